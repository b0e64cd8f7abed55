import { systemClock } from "../../base/clock.js";
import { nameOfUtcDay, utcDay } from "../../base/utcDay.js";
import { AdminServiceService, AgentUsage, ListUsageRequest } from "../../gen/talaria/gateway/v1/admin_service.js";
import { pages } from "../../rpc/clients/pages.js";
import type { CommandContext } from "../commandContext.js";
import { table } from "../render/table.js";
import { budgetNote, usageRow, type UsageRow } from "../usage/usageRow.js";

/** What is asked for. */
export interface UsageOptions {
  readonly agent?: string;
  /** How many UTC days back, this one included. */
  readonly days: number;
}

/** Shows what agents have used by UTC day, with the budgets of the day that goes on. */
export async function usage(context: CommandContext, { agent = "", days }: UsageOptions): Promise<void> {
  const gateway = await context.gateway();
  const sinceDay = nameOfUtcDay(utcDay(systemClock.now()) - days + 1);
  const rows: UsageRow[] = [];
  const read = (pageToken: string) =>
    gateway.call(
      AdminServiceService.listUsage,
      ListUsageRequest.fromPartial({ agent, sinceDay, pageSize: 100, pageToken }),
    );
  for await (const page of pages(read)) rows.push(...page.usage.map(usageRow));
  context.print(rows, (columns) =>
    table(
      ["DAY (UTC)", "AGENT", "TURNS", "NOT COMPLETED", "TOKENS IN", "TOKENS OUT", "CALLS", "COST", "BUDGET"],
      rows.map((row) => [
        row.day,
        row.agent,
        String(row.turns),
        String(row.notCompleted),
        String(row.inputTokens),
        String(row.outputTokens),
        String(row.apiCalls),
        row.costUsd === undefined ? "" : `$${row.costUsd.toFixed(4)}`,
        budgetNote(row),
      ]),
      columns,
    ),
  );
}

/** Lets an agent go on until the UTC day ends, although its budget is reached. */
export async function liftBudget(context: CommandContext, agent: string): Promise<void> {
  const gateway = await context.gateway();
  const { usage: used } = await gateway.call(AdminServiceService.liftBudget, {
    requestId: context.newRequestId(),
    agent,
  });
  context.print(
    used === undefined ? {} : AgentUsage.toJSON(used),
    () => `The budget of ${agent} is lifted until the UTC day ends.`,
  );
}
