import type { SessionUpdate, Turn, TurnPhase } from "../gen/talaria/gateway/v1/turn_service.js";
import { DeltaChannel, type ToolCompleted, type ToolStarted } from "../gen/talaria/types/v1/event.js";
import type { Prompt } from "../gen/talaria/types/v1/prompt.js";

/** One thing that happens in a turn, in the order in which it happens. */
export type TurnStep =
  /** The input is on disk; `replayed` where an earlier call had put it there. */
  | { readonly kind: "queued"; readonly turn: Turn; readonly replayed: boolean }
  | { readonly kind: "started"; readonly turn: Turn }
  | { readonly kind: "phase"; readonly phase: TurnPhase }
  /** A piece of the answer; joined, the pieces are the answer so far, each once, also over a broken connection. */
  | { readonly kind: "text"; readonly text: string }
  /** A piece of what the model thinks, where the runtime shows that. */
  | { readonly kind: "reasoning"; readonly text: string }
  | { readonly kind: "toolStarted"; readonly tool: ToolStarted }
  | { readonly kind: "toolCompleted"; readonly tool: ToolCompleted }
  /** A prompt waits for an answer; over a broken connection it may come again. */
  | { readonly kind: "prompt"; readonly prompt: Prompt }
  /** A prompt is no longer open. */
  | { readonly kind: "promptEnded"; readonly prompt: Prompt }
  /** The turn has its outcome; nothing follows. */
  | { readonly kind: "ended"; readonly turn: Turn };

/** Takes updates of one turn apart. It is told when the stream has been opened anew, because the text so far then comes again. */
export interface TurnReader {
  /** The steps of one update. */
  read(update: SessionUpdate): readonly TurnStep[];
  /** The stream is opened again. */
  reopened(): void;
}

/** Makes the reader of one turn. */
export function createTurnReader(): TurnReader {
  let given = 0;
  let seen = 0;
  /** What of a piece has not been given yet. */
  const fresh = (text: string): readonly TurnStep[] => {
    const skip = Math.max(0, Math.min(text.length, given - seen));
    seen += text.length;
    given = Math.max(given, seen);
    return skip === text.length ? [] : [{ kind: "text", text: text.slice(skip) }];
  };
  return {
    reopened() {
      seen = 0;
    },
    read({ update }) {
      switch (update?.$case) {
        case "inputQueued": {
          const { turn, replayed } = update.value;
          return turn === undefined ? [] : [{ kind: "queued", turn, replayed }];
        }
        case "turnStarted":
          return update.value.turn === undefined ? [] : [{ kind: "started", turn: update.value.turn }];
        case "phaseChanged":
          return [{ kind: "phase", phase: update.value.phase }];
        case "events":
          return update.value.events.flatMap(({ event }): readonly TurnStep[] => {
            switch (event?.$case) {
              case "delta": {
                const { text, channel } = event.value;
                if (channel === DeltaChannel.DELTA_CHANNEL_REASONING) return [{ kind: "reasoning", text }];
                return fresh(text);
              }
              case "toolStarted":
                return [{ kind: "toolStarted", tool: event.value }];
              case "toolCompleted":
                return [{ kind: "toolCompleted", tool: event.value }];
              case undefined:
                return [];
            }
          });
        case "promptRaised":
          return [{ kind: "prompt", prompt: update.value }];
        case "promptEnded":
          return [{ kind: "promptEnded", prompt: update.value }];
        case "turnEnded":
          return update.value.turn === undefined ? [] : [{ kind: "ended", turn: update.value.turn }];
        default:
          return [];
      }
    },
  };
}
