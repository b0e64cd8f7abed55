import { Session, sessionStateToJSON } from "../../gen/talaria/gateway/v1/session.js";
import { ExportSessionResponse, SessionServiceService } from "../../gen/talaria/gateway/v1/session_service.js";
import { ConversationMessage, MessageRole } from "../../gen/talaria/types/v1/conversation.js";
import { pages } from "../../rpc/clients/pages.js";
import type { CommandContext } from "../commandContext.js";
import type { PolicyOptions } from "../register/policyOptions.js";
import { localTime, shortName } from "../render/names.js";
import { table } from "../render/table.js";
import { createSession } from "../run/createSession.js";

/** Lists sessions, the last changed first. */
export async function sessionsList(
  context: CommandContext,
  { agent = "", limit }: { readonly agent?: string; readonly limit: number },
): Promise<void> {
  const gateway = await context.gateway();
  const found: Session[] = [];
  const read = (pageToken: string) => {
    const pageSize = Math.min(100, limit - found.length);
    const request = { agent, pageSize, pageToken, states: [], parentSessionId: "" };
    return gateway.call(SessionServiceService.listSessions, request);
  };
  for await (const page of pages(read)) {
    found.push(...page.sessions);
    if (found.length >= limit) break;
  }
  context.print(
    found.map((session) => Session.toJSON(session)),
    (columns) =>
      table(
        ["SESSION", "AGENT", "STATE", "QUEUED", "ROWS", "CHANGED", "TITLE"],
        found.map((session) => [
          session.sessionId,
          session.agent,
          shortName(sessionStateToJSON(session.state), "SESSION_STATE_"),
          String(session.queuedInputs),
          String(session.rows),
          localTime(session.updatedAt),
          session.title,
        ]),
        columns,
      ),
  );
}

/** Creates a session, and prints its id. */
export async function sessionsNew(
  context: CommandContext,
  agent: string,
  { title, safeMode, ignoreUserConfig, ignoreRules }: PolicyOptions & { readonly title?: string },
): Promise<void> {
  const wanted = { agent, title, safeMode, ignoreUserConfig, ignoreRules };
  const session = await createSession(await context.gateway(), context.newRequestId(), wanted);
  context.print(Session.toJSON(session), () => session.sessionId);
}

async function show(context: CommandContext, sessionId: string): Promise<void> {
  const gateway = await context.gateway();
  const read = (pageToken: string) =>
    gateway.call(SessionServiceService.readTranscript, { sessionId, pageSize: 100, pageToken });
  for await (const { messages } of pages(read)) {
    for (const row of messages) context.print(ConversationMessage.toJSON(row), () => transcriptRow(row));
  }
}

function transcriptRow(row: ConversationMessage): string {
  if (row.boundary) return `--- ${row.text} ---`;
  const calls = row.toolCalls.map((call) => `[calls ${call.name}]`).join(" ");
  const text = [row.text, calls].filter((part) => part !== "").join(" ");
  switch (row.role) {
    case MessageRole.MESSAGE_ROLE_ASSISTANT:
      return `< ${text}`;
    case MessageRole.MESSAGE_ROLE_TOOL:
      return `  [${row.toolName}] ${text}`;
    case MessageRole.MESSAGE_ROLE_USER:
      return `${row.author?.displayName ?? ""}> ${text}`;
    default:
      return `# ${text}`;
  }
}

async function reset(context: CommandContext, sessionId: string): Promise<void> {
  const gateway = await context.gateway();
  const request = { requestId: context.newRequestId(), sessionId };
  const { session } = await gateway.call(SessionServiceService.resetSession, request);
  context.print(session === undefined ? {} : Session.toJSON(session), () => `${sessionId} was reset.`);
}

async function remove(context: CommandContext, sessionId: string): Promise<void> {
  const gateway = await context.gateway();
  await gateway.call(SessionServiceService.deleteSession, { requestId: context.newRequestId(), sessionId });
  context.print({ deleted: sessionId }, () => `${sessionId} was deleted.`);
}

async function exportWhole(context: CommandContext, sessionId: string): Promise<void> {
  const gateway = await context.gateway();
  for await (const part of gateway.stream(SessionServiceService.exportSession, { sessionId })) {
    context.terminal.out(`${JSON.stringify(ExportSessionResponse.toJSON(part))}\n`);
  }
}

/** The commands that take one session's id. */
export const sessionsCommand = { show, reset, delete: remove, export: exportWhole };
