import { cutToCodePoints } from "../../base/codePoints.js";
import { AuthorKind } from "../../gen/talaria/types/v1/author.js";
import { HookEvent } from "../../gen/talaria/types/v1/policy.js";
import type { CheckedBootstrap } from "../checkBootstrap.js";
import type { RuntimeAnswer } from "../runtimes/runtime.js";

/** A tool call as hooks are told of it: redacted and bounded as viewers see it. */
export interface HookTool {
  readonly callId: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** How a tool call ended, redacted and bounded. */
export interface HookToolEnd extends HookTool {
  readonly result: string;
  readonly isError: boolean;
  readonly durationMs: number;
}

/** How a turn ended. */
export interface HookTurnEnd {
  readonly outcome: "completed" | "failed" | "stopped";
  readonly answer: RuntimeAnswer;
}

/** Names of the events, as the configuration and the documents write them. */
export const EVENT_NAMES: Readonly<Partial<Record<HookEvent, string>>> = {
  [HookEvent.HOOK_EVENT_TURN_STARTED]: "turn_started",
  [HookEvent.HOOK_EVENT_TOOL_STARTED]: "tool_started",
  [HookEvent.HOOK_EVENT_TOOL_COMPLETED]: "tool_completed",
  [HookEvent.HOOK_EVENT_TURN_ENDED]: "turn_ended",
  [HookEvent.HOOK_EVENT_MEMORY_RECALL]: "memory_recall",
  [HookEvent.HOOK_EVENT_MEMORY_STORE]: "memory_store",
};

const AUTHORS: Readonly<Partial<Record<AuthorKind, string>>> = {
  [AuthorKind.AUTHOR_KIND_CLIENT]: "client",
  [AuthorKind.AUTHOR_KIND_LOCAL_AGENT]: "local_agent",
  [AuthorKind.AUTHOR_KIND_PEER_AGENT]: "peer_agent",
  [AuthorKind.AUTHOR_KIND_RELAY_AGENT]: "relay_agent",
  [AuthorKind.AUTHOR_KIND_GATEWAY]: "gateway",
};

/** What of an answer a hook is given, code points. */
const ANSWER_LIMIT = 262_144;

type Redact = (text: string) => string;

/** What every document holds: which turn of which session, and who wrote its input. */
export function turnFacts(event: HookEvent, bootstrap: Pick<CheckedBootstrap, HookedFields>): Record<string, unknown> {
  const { input } = bootstrap;
  const { author } = input;
  return {
    event: EVENT_NAMES[event],
    execution_id: bootstrap.executionId,
    session_id: bootstrap.sessionId,
    session_title: bootstrap.sessionTitle,
    agent: bootstrap.agent,
    input_id: input.inputId,
    delivery_id: input.deliveryId,
    author:
      author === undefined
        ? null
        : {
            kind: AUTHORS[author.kind] ?? "unknown",
            id: author.id,
            display_name: author.displayName,
            sent_by: author.sentBy,
          },
  };
}

/** The fields of an assignment that hooks are told of. */
export type HookedFields = "executionId" | "sessionId" | "sessionTitle" | "agent" | "input" | "policy";

/** What a hook at a tool call is told besides. */
export function toolFacts(tool: HookTool | HookToolEnd): Record<string, unknown> {
  return {
    tool: { call_id: tool.callId, name: tool.name, arguments: tool.arguments },
    ...("result" in tool ? { result: tool.result, is_error: tool.isError, duration_ms: tool.durationMs } : {}),
  };
}

/** What a hook at the end of a turn is told besides. */
export function endFacts({ outcome, answer }: HookTurnEnd, redact: Redact): Record<string, unknown> {
  const { failure } = answer;
  return {
    outcome,
    answer: cutToCodePoints(redact(answer.text), ANSWER_LIMIT, "…"),
    ...(failure === undefined ? {} : { failure: { reason: failure.reason, message: redact(failure.message) } }),
  };
}
