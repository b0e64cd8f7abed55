import type { SessionUpdate, Turn } from "../../gen/talaria/gateway/v1/turn_service.js";
import { DeltaChannel } from "../../gen/talaria/types/v1/event.js";
import { toTimestamp } from "../../rpc/wire/times.js";
import { worksFor } from "../../store/queries/sessions.js";
import type { Queryable } from "../../store/sql.js";
import { openPromptRows } from "../../store/turns/promptRow.js";
import { toPrompt } from "../prompts/promptRecord.js";
import { readTurn } from "../records/readTurn.js";
import type { TurnParts } from "../turn/turnParts.js";
import type { Running } from "./watchSession.js";
import { Watcher } from "./watcher.js";

/** Follows one turn, from its place in the queue to its outcome; what went before is told first. */
export async function* followTurn(
  parts: TurnParts & Running,
  admitted: { readonly turn: Turn; readonly replayed: boolean },
  answersPrompts: boolean,
  signal: AbortSignal,
): AsyncGenerator<SessionUpdate> {
  const { hub, store, clock } = parts;
  const { sessionId, inputId } = admitted.turn;
  const watcher = new Watcher(answersPrompts);
  // Where what is told stands: a viewer that resumes there must miss nothing that still waits for this one.
  let cursor = hub.cursorOf(sessionId);
  const place = (change: NonNullable<SessionUpdate["update"]>): SessionUpdate => ({
    cursor,
    at: toTimestamp(clock.now()),
    update: change,
  });
  // A prompt that was raised before, or in a gap, still waits for an answer. To be read before anything is yielded.
  const openPrompts = ({ executionId }: Turn): readonly SessionUpdate[] =>
    openPromptRows(store.reader, sessionId)
      .filter((row) => worksFor(store.reader, row.execution_id, executionId))
      .map((row) => place({ $case: "promptRaised", value: toPrompt(row) }));
  // The watch opens and the state is read in one step, so that nothing falls between them.
  hub.open(sessionId, watcher, cursor);
  try {
    let turn = readTurn(store.reader, inputId) ?? admitted.turn;
    const text = turn.startedAt === undefined ? "" : parts.runningText(sessionId);
    const prompts = openPrompts(turn);
    yield place({ $case: "inputQueued", value: { turn: admitted.turn, replayed: admitted.replayed } });
    if (turn.endedAt !== undefined) {
      yield place({ $case: "turnEnded", value: { turn } });
      return;
    }
    if (turn.startedAt !== undefined) {
      yield place({ $case: "turnStarted", value: { turn } });
      if (text !== "") yield place({ $case: "events", value: textSoFar(turn.executionId, text) });
      yield* prompts;
    }
    for (let step = await watcher.next(signal); step !== undefined; step = await watcher.next(signal)) {
      if (step.kind === "overrun") {
        cursor = hub.cursorOf(sessionId);
        turn = readTurn(store.reader, inputId) ?? turn;
        const missed = openPrompts(turn);
        yield place({ $case: "gap", value: { requested: undefined, oldestKept: undefined } });
        if (turn.endedAt === undefined) {
          yield* missed;
          continue;
        }
        yield place({ $case: "turnEnded", value: { turn } });
        return;
      }
      const { update } = step.update;
      if (update?.$case === "turnStarted" && update.value.turn?.inputId === inputId) turn = update.value.turn;
      if (concerns(step.update, turn, store.reader)) yield step.update;
      if (update?.$case === "turnEnded" && update.value.turn?.inputId === inputId) return;
    }
  } finally {
    hub.close(sessionId, watcher);
  }
}

function textSoFar(executionId: string, text: string) {
  const channel = DeltaChannel.DELTA_CHANNEL_ANSWER;
  return { executionId, events: [{ event: { $case: "delta" as const, value: { text, channel } } }] };
}

/** Whether an update is about this turn. */
function concerns({ update }: SessionUpdate, turn: Turn, reader: Queryable): boolean {
  switch (update?.$case) {
    case "turnStarted":
    case "turnEnded":
      return update.value.turn?.inputId === turn.inputId;
    case "phaseChanged":
    case "events":
      return turn.executionId !== "" && update.value.executionId === turn.executionId;
    case "promptRaised":
    case "promptEnded":
      // A child turn asks its parent's viewers.
      return turn.executionId !== "" && worksFor(reader, update.value.executionId, turn.executionId);
    case "sessionDeleted":
      return true;
    default:
      return false;
  }
}
