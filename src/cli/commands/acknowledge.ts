import { Session } from "../../gen/talaria/gateway/v1/session.js";
import { SessionServiceService } from "../../gen/talaria/gateway/v1/session_service.js";
import { TurnServiceService } from "../../gen/talaria/gateway/v1/turn_service.js";
import { CliError } from "../cliError.js";
import type { CommandContext } from "../commandContext.js";

/**
 * Lets a session go on that is paused behind a turn whose outcome is unknown.
 * @param options `execution` names the turn that was looked at; without it, it is the one that the session is paused behind
 * @throws CliError where the session is not paused
 */
export async function acknowledge(
  context: CommandContext,
  sessionId: string,
  { execution }: { readonly execution?: string },
): Promise<void> {
  const gateway = await context.gateway();
  const executionId = execution ?? (await pausedBehind(context, sessionId));
  const request = { requestId: context.newRequestId(), sessionId, executionId };
  const { session } = await gateway.call(TurnServiceService.acknowledgeUnknown, request);
  context.print(session === undefined ? {} : Session.toJSON(session), () => `${sessionId} goes on.`);
}

async function pausedBehind(context: CommandContext, sessionId: string): Promise<string> {
  const gateway = await context.gateway();
  const { session } = await gateway.call(SessionServiceService.getSession, { sessionId });
  const executionId = session?.pausedBehindExecutionId ?? "";
  if (executionId !== "") return executionId;
  throw new CliError(
    "OUTCOME_NOT_UNKNOWN",
    `${sessionId} is not paused behind a turn whose outcome is unknown.`,
    "talaria sessions list shows the state of each session.",
  );
}
