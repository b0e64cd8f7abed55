import type { Client } from "@grpc/grpc-js";
import type { Clock } from "../base/clock.js";
import type { Random } from "../base/random.js";
import { HealthService } from "../gen/grpc/health/v1/health.js";
import { DeltaChannel } from "../gen/talaria/types/v1/event.js";
import { TurnResult } from "../gen/talaria/types/v1/result.js";
import { unaryCall } from "../rpc/clients/unaryCall.js";
import { EventBatch } from "./eventBatch.js";
import { createFrameEncoder } from "./frameEncoder.js";
import { practiceTurn } from "./practiceTurn.js";
import { makeReceipt } from "./resultReceipt.js";
import { NO_USAGE } from "./usageTally.js";

const ROUNDS = 8;
const HEALTH_MS = 1_000;

/**
 * Runs what a turn's first moments run, on data of its own, so that a pooled worker has it compiled before its assignment. The
 * call it makes asks after the owner's health: it needs no right and touches no store.
 */
export async function warmUp(client: Client, clock: Clock, random: Random): Promise<void> {
  const encode = createFrameEncoder();
  for (let round = 0; round < ROUNDS; round++) {
    const batch = new EventBatch();
    for (const text of ["warm", "ing ", "up"]) {
      batch.add({ event: { $case: "delta", value: { text, channel: DeltaChannel.DELTA_CHANNEL_ANSWER } } });
    }
    encode({ sequence: BigInt(round), frame: { $case: "events", value: { events: batch.take() } } });
    const answer = { text: "practice" };
    const { result } = makeReceipt({ answer, stopped: false, usage: NO_USAGE, sessionId: "", redact: (text) => text });
    TurnResult.encode(result).finish();
  }
  await practiceTurn(clock, random);
  try {
    await unaryCall(client, HealthService.check, { service: "" }, { timeoutMs: HEALTH_MS });
  } catch {
    // Practice: an answer that refuses is as good.
  }
}
