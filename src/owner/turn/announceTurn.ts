import { TurnPhase } from "../../gen/talaria/gateway/v1/turn_service.js";
import type { ClaimedInput } from "../../store/turns/claimInput.js";
import { readTurn } from "../records/readTurn.js";
import type { TurnParts } from "./turnParts.js";

type Announcer = Pick<TurnParts, "store" | "hub">;

/** Tells a session's viewers that its turn has begun. */
export function announceStart({ store, hub }: Announcer, { input }: ClaimedInput): void {
  const turn = readTurn(store.reader, input.input_id);
  if (turn !== undefined) hub.publish(input.session_id, { $case: "turnStarted", value: { turn } });
}

/** Tells a session's viewers how its turn ended; of a message's turn that is run again, that its input waits once more. */
export function announceEnd({ store, hub }: Announcer, { input }: ClaimedInput): void {
  const turn = readTurn(store.reader, input.input_id);
  if (turn === undefined) return;
  const again = turn.phase === TurnPhase.TURN_PHASE_QUEUED;
  hub.publish(
    input.session_id,
    again ? { $case: "inputQueued", value: { turn, replayed: false } } : { $case: "turnEnded", value: { turn } },
  );
}
