import { redact } from "../../base/redaction.js";
import type { SecretRegistry } from "../../base/secretRegistry.js";
import { showArguments, showResult } from "../../base/toolPayload.js";
import type { TurnEvent } from "../../gen/talaria/types/v1/event.js";
import type { SessionChange } from "../watch/sessionHub.js";

/**
 * Events as viewers may see them: tool arguments and results without secrets and within their bounds, whatever the worker sent.
 * Text deltas pass as they are. A batch without tool events is returned itself.
 */
export function shownEvents(events: TurnEvent[], secrets: SecretRegistry): TurnEvent[] {
  if (events.every(({ event }) => event?.$case === "delta")) return events;
  const clean = (text: string): string => redact(text, secrets);
  return events.map((one): TurnEvent => {
    switch (one.event?.$case) {
      case "toolStarted": {
        const { arguments: given, truncated, ...call } = one.event.value;
        const shown = showArguments(given ?? {}, clean);
        const value = { ...call, arguments: shown.arguments, truncated: truncated || shown.truncated };
        return { event: { $case: "toolStarted", value } };
      }
      case "toolCompleted": {
        const { result, truncated, ...call } = one.event.value;
        const shown = showResult(result, clean);
        return {
          event: {
            $case: "toolCompleted",
            value: { ...call, result: shown.result, truncated: truncated || shown.truncated },
          },
        };
      }
      default:
        return one;
    }
  });
}

/** What viewers are told of a batch. */
export function eventsUpdate(executionId: string, events: TurnEvent[], secrets: SecretRegistry): SessionChange {
  return { $case: "events", value: { executionId, events: shownEvents(events, secrets) } };
}
