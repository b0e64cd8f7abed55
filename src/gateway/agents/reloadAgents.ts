import { z } from "zod";

import { readAgents } from "../../base/config/readAgents.js";
import type { ReloadRequest, ReloadResponse } from "../../gen/talaria/gateway/v1/admin_service.js";
import { defineUnary } from "../../rpc/harness/methods.js";
import { failureOf, toFailure } from "../../rpc/wire/failure.js";
import { requestIdField } from "../edge/fields.js";
import type { GatewayContext } from "../gatewayContext.js";
import { agentInvalid } from "./agentDirectory.js";

/** Most problems that are told at once. */
const MOST_PROBLEMS = 100;

/** What is wrong in the agents' files, as the contract writes it. */
export function agentProblems({ agents }: Pick<GatewayContext, "agents">) {
  return agents
    .problems()
    .slice(0, MOST_PROBLEMS)
    .map((problem) => toFailure(failureOf(agentInvalid(problem))));
}

/** Makes `AdminService.Reload`: reads the agents' folders again. Sessions that exist keep the policy that they were made with; budgets hold at once. */
export function reloadMethod(context: Pick<GatewayContext, "agents" | "paths" | "spending">) {
  const { agents, paths, spending } = context;
  return defineUnary<ReloadRequest, ReloadResponse>({
    schema: z.object({ requestId: requestIdField }),
    async handle(_request, { log }) {
      const { added, changed, removed } = agents.replace(readAgents(paths.agentsDir));
      // Budgets are no part of a policy: they hold at once.
      spending.look();
      log.info({ added, changed, removed, invalid: agents.invalid().map(({ name }) => name) }, "agents read again");
      return { added: [...added], changed: [...changed], removed: [...removed], problems: agentProblems(context) };
    },
  });
}
