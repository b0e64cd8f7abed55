import { systemClock } from "../../base/clock.js";
import type { Session } from "../../gen/talaria/gateway/v1/session.js";
import { ListSessionsRequest, SessionServiceService } from "../../gen/talaria/gateway/v1/session_service.js";
import { pages } from "../../rpc/clients/pages.js";
import type { CommandContext } from "../commandContext.js";
import type { GatewayClient } from "../gatewayClient.js";
import { table } from "../render/table.js";
import { UsageTotals } from "../usage/usageTotals.js";

/** What is asked for. */
export interface UsageOptions {
  readonly agent?: string;
  /** How many days back, this one included. */
  readonly days: number;
}

/** Shows what agents have used by day, added up from the turns of the sessions that exist. */
export async function usage(context: CommandContext, { agent = "", days }: UsageOptions): Promise<void> {
  const gateway = await context.gateway();
  const sinceMs = startOfDay(systemClock.now(), days - 1);
  const totals = new UsageTotals();
  for await (const session of sessionsSince(gateway, agent, sinceMs)) {
    const { sessionId } = session;
    for await (const { part } of gateway.stream(SessionServiceService.exportSession, { sessionId })) {
      if (part?.$case === "turn") totals.add(session.agent, part.value, sinceMs);
      // The transcript comes last; leaving the loop ends the stream.
      else if (part?.$case === "message") break;
    }
  }
  const rows = totals.rows();
  context.print(rows, (columns) =>
    table(
      ["DAY", "AGENT", "TURNS", "NOT COMPLETED", "TOKENS IN", "TOKENS OUT", "CALLS", "COST"],
      rows.map((row) => [
        row.day,
        row.agent,
        String(row.turns),
        String(row.notCompleted),
        String(row.inputTokens),
        String(row.outputTokens),
        String(row.apiCalls),
        row.costUsd === undefined ? "" : `$${row.costUsd.toFixed(4)}`,
      ]),
      columns,
    ),
  );
}

/** Sessions that have changed since a time; they come the last changed first. */
async function* sessionsSince(gateway: GatewayClient, agent: string, sinceMs: number): AsyncGenerator<Session> {
  const read = (pageToken: string) =>
    gateway.call(
      SessionServiceService.listSessions,
      ListSessionsRequest.fromPartial({ agent, pageSize: 100, pageToken }),
    );
  for await (const { sessions } of pages(read)) {
    for (const session of sessions) {
      if (Number(session.updatedAt?.seconds ?? 0n) * 1_000 < sinceMs) return;
      yield session;
    }
  }
}

/** The start of the day so many days ago, in this machine's zone, milliseconds since the Unix epoch. */
function startOfDay(nowMs: number, daysAgo: number): number {
  const date = new Date(nowMs);
  date.setHours(0, 0, 0, 0);
  date.setDate(date.getDate() - daysAgo);
  return date.getTime();
}
