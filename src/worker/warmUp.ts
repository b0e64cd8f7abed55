import { DeltaChannel } from "../gen/talaria/types/v1/event.js";
import { EventBatch } from "./eventBatch.js";
import { createFrameEncoder } from "./frameEncoder.js";

const ROUNDS = 50;

/** Runs the paths that a turn's first frames take, so that a pooled worker has them compiled before its assignment. */
export function warmUp(): void {
  const encode = createFrameEncoder();
  for (let round = 0; round < ROUNDS; round++) {
    const batch = new EventBatch();
    for (const text of ["warm", "ing ", "up"]) {
      batch.add({ event: { $case: "delta", value: { text, channel: DeltaChannel.DELTA_CHANNEL_ANSWER } } });
    }
    encode({ sequence: BigInt(round), frame: { $case: "events", value: { events: batch.take() } } });
  }
}
