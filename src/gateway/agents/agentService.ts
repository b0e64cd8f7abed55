import { createHash } from "node:crypto";

import { z } from "zod";

import type { AgentConfig } from "../../base/config/agentConfig.js";
import type { InvalidAgent } from "../../base/config/readAgents.js";
import { AgentServiceService, type Agent } from "../../gen/talaria/gateway/v1/agent_service.js";
import type { ServiceImplementation } from "../../rpc/harness/implementService.js";
import { implementService } from "../../rpc/harness/implementService.js";
import { defineUnary } from "../../rpc/harness/methods.js";
import { listGrants } from "../../store/queries/grants.js";
import { botChatOf } from "../../store/queries/sessions.js";
import type { Queryable } from "../../store/sql.js";
import { revokeGrant } from "../../store/turns/revokeGrant.js";
import { agentField, lineField, pageSizeField, pageTokenField, requestIdField } from "../edge/fields.js";
import { cutPage, createPageTokens, pageSizeOf } from "../../rpc/pageToken.js";
import { toTimestamp } from "../../rpc/wire/times.js";
import type { GatewayContext } from "../gatewayContext.js";
import type { DmRoom } from "../ports.js";
import { pauseFailure } from "../usage/pauseError.js";

const page = { pageSize: pageSizeField, pageToken: pageTokenField };
const named = agentField.min(1, "is required");

/** Makes AgentService. */
export function createAgentService(
  { store, agents, spending, clock }: Pick<GatewayContext, "store" | "agents" | "spending" | "clock">,
  dm: Pick<DmRoom, "teammates">,
): ServiceImplementation {
  const { reader, writer } = store;
  const shown = (agent: AgentConfig): Agent => {
    const pause = spending.pauseOf(agent.name);
    return { ...toAgent(agent, reader), pause: pause === undefined ? undefined : pauseFailure(pause, clock.now()) };
  };
  const tokens = createPageTokens(store.homeKey);
  return implementService(AgentServiceService, {
    listAgents: defineUnary({
      schema: z.object(page),
      async handle({ pageSize, pageToken }) {
        const after = tokens.read(["agents"], pageToken)?.[0];
        const size = pageSizeOf(pageSize);
        const known = [...agents.list().map(shown), ...agents.invalid().map((agent) => toDisabled(agent, reader))].sort(
          (a, b) => (a.name < b.name ? -1 : 1),
        );
        const rest = known.filter(({ name }) => after === undefined || name > String(after));
        const cut = cutPage(rest, size);
        return {
          agents: [...cut.page],
          nextPageToken: cut.last === undefined ? "" : tokens.make(["agents"], [cut.last.name]),
        };
      },
    }),

    getAgent: defineUnary({
      schema: z.object({ name: named }),
      async handle({ name }) {
        const broken = agents.invalid().find((one) => one.name === name);
        return { agent: broken === undefined ? shown(agents.require(name)) : toDisabled(broken, reader) };
      },
    }),

    listTeammates: defineUnary({
      schema: z.object({ agent: agentField }),
      async handle({ agent }) {
        const teammates = [...dm.teammates(agent === "" ? undefined : agents.require(agent).name)];
        const text = JSON.stringify(teammates.map(({ address, entry }) => [address, entry]));
        return { teammates, fingerprint: createHash("sha256").update(text).digest("hex").slice(0, 12) };
      },
    }),

    listGrants: defineUnary({
      schema: z.object({ agent: agentField, ...page }),
      async handle({ agent, pageSize, pageToken }) {
        const list = ["grants", agent];
        const place = tokens.read(list, pageToken);
        const size = pageSizeOf(pageSize);
        const rows = listGrants(reader, {
          ...(agent === "" ? {} : { agent }),
          ...(place === undefined ? {} : { after: { grantedAt: Number(place[0]), grantId: String(place[1]) } }),
          limit: size + 1,
        });
        const cut = cutPage(rows, size);
        return {
          grants: cut.page.map(({ grantedAt, ...grant }) => ({ ...grant, grantedAt: toTimestamp(grantedAt) })),
          nextPageToken: cut.last === undefined ? "" : tokens.make(list, [cut.last.grantedAt, cut.last.grantId]),
        };
      },
    }),

    revokeGrant: defineUnary({
      schema: z.object({ requestId: requestIdField, grantId: lineField(1, 64) }),
      async handle({ grantId }) {
        // A grant that is gone is what was asked for: the same request may come twice.
        await writer.execute(revokeGrant, { grantId });
        return {};
      },
    }),
  });
}

function toAgent(agent: AgentConfig, reader: Queryable): Agent {
  return {
    name: agent.name,
    title: agent.title,
    description: agent.description,
    main: agent.main,
    runtime: agent.runtime,
    model: agent.model?.name ?? "",
    private: agent.private,
    messaging: agent.messaging,
    problem: "",
    botChatSessionId: botChatOf(reader, agent.name) ?? "",
    pause: undefined,
  };
}

/** An agent whose files cannot be used, with what is wrong in them. */
function toDisabled({ name, main, problems }: InvalidAgent, reader: Queryable): Agent {
  const [first, ...more] = problems;
  return {
    name,
    title: name,
    description: "",
    main,
    runtime: "",
    model: "",
    private: true,
    messaging: false,
    problem: more.length === 0 ? first.message : `${first.message} (and ${String(more.length)} more)`,
    botChatSessionId: botChatOf(reader, name) ?? "",
    pause: undefined,
  };
}
