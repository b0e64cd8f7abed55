import { z } from "zod";

import { nameOfUtcDay, utcDay, utcDayNamed } from "../../base/utcDay.js";
import type {
  AgentUsage,
  LiftBudgetRequest,
  LiftBudgetResponse,
  ListUsageRequest,
  ListUsageResponse,
} from "../../gen/talaria/gateway/v1/admin_service.js";
import { defineUnary } from "../../rpc/harness/methods.js";
import { createPageTokens, cutPage, pageSizeOf } from "../../rpc/pageToken.js";
import { describePrincipal } from "../../rpc/principal.js";
import { toOptionalTimestamp } from "../../rpc/wire/times.js";
import { liftBudget } from "../../store/usage/noteBudget.js";
import { listUsageDays, type UsageDay, usageOfDay } from "../../store/usage/usageDays.js";
import { agentField, pageSizeField, pageTokenField, requestIdField } from "../edge/fields.js";
import type { GatewayContext } from "../gatewayContext.js";
import { pauseFailure } from "./pauseError.js";

const sinceField = z
  .string()
  .refine((text) => text === "" || utcDayNamed(text) !== undefined, "must be a day, YYYY-MM-DD");

/** The methods of AdminService that show what agents have used and lift their budgets. */
export function usageMethods(context: Pick<GatewayContext, "store" | "agents" | "clock" | "spending">) {
  const { store, agents, clock, spending } = context;
  const { reader, writer, homeKey } = store;
  const tokens = createPageTokens(homeKey);

  const toUsage = ({ day, ...used }: UsageDay): AgentUsage => {
    const now = clock.now();
    const today = day === utcDay(now);
    const budget = today ? agents.get(used.agent)?.budget : undefined;
    const pause = today ? spending.pauseOf(used.agent) : undefined;
    return {
      day: nameOfUtcDay(day),
      agent: used.agent,
      turns: BigInt(used.turns),
      notCompleted: BigInt(used.notCompleted),
      inputTokens: BigInt(used.inputTokens),
      outputTokens: BigInt(used.outputTokens),
      cacheReadTokens: BigInt(used.cacheReadTokens),
      cacheWriteTokens: BigInt(used.cacheWriteTokens),
      reasoningTokens: BigInt(used.reasoningTokens),
      apiCalls: BigInt(used.apiCalls),
      costUsd: used.costUsd,
      pause: pause === undefined ? undefined : pauseFailure(pause, now),
      liftedBy: used.liftedBy,
      liftedAt: toOptionalTimestamp(used.liftedAt),
      tokensPerDay: budget?.tokensPerDay === undefined ? undefined : BigInt(budget.tokensPerDay),
      costUsdPerDay: budget?.costUsdPerDay,
    };
  };

  return {
    listUsage: defineUnary<ListUsageRequest, ListUsageResponse>({
      schema: z.object({ agent: agentField, sinceDay: sinceField, pageSize: pageSizeField, pageToken: pageTokenField }),
      async handle({ agent, sinceDay, pageSize, pageToken }) {
        const list = ["usage", agent, sinceDay];
        const place = tokens.read(list, pageToken);
        const size = pageSizeOf(pageSize);
        const since = utcDayNamed(sinceDay);
        const rows = listUsageDays(reader, {
          ...(agent === "" ? {} : { agent }),
          ...(since === undefined ? {} : { since }),
          ...(place === undefined ? {} : { after: { day: Number(place[0]), agent: String(place[1]) } }),
          limit: size + 1,
        });
        const cut = cutPage(rows, size);
        return {
          usage: cut.page.map(toUsage),
          nextPageToken: cut.last === undefined ? "" : tokens.make(list, [cut.last.day, cut.last.agent]),
        };
      },
    }),
    liftBudget: defineUnary<LiftBudgetRequest, LiftBudgetResponse>({
      schema: z.object({ requestId: requestIdField, agent: agentField.min(1, "is required") }),
      async handle({ agent }, { principal }) {
        agents.require(agent);
        const now = clock.now();
        const day = utcDay(now);
        await writer.execute(liftBudget, { agent, day, by: describePrincipal(principal), now });
        spending.look();
        const used = usageOfDay(reader, agent, day);
        return { usage: used === undefined ? undefined : toUsage(used) };
      },
    }),
  };
}
