import type { Clock } from "../../../base/clock.js";
import { DeltaChannel } from "../../../gen/talaria/types/v1/event.js";
import { leaveLoop } from "../../leaveLoop.js";
import type { EchoTurn } from "./echoTurn.js";

/** Splits a text into words with the white space that follows each; joined they are the text again. */
export function wordsOf(text: string): readonly string[] {
  return text.match(/\s*\S+\s*/g) ?? (text === "" ? [] : [text]);
}

/** Streams deltas in bursts, one burst in each turn of the loop. The text is reasoning: it is no part of the answer. */
export async function flood(turn: EchoTurn, count: number, burst: number, bytes: number): Promise<string> {
  const text = "x".repeat(bytes);
  for (let sent = 0; sent < count;) {
    turn.signal.throwIfAborted();
    const size = Math.min(burst, count - sent);
    let credit = Promise.resolve();
    for (let i = 0; i < size; i++) credit = turn.context.emitText(text, DeltaChannel.DELTA_CHANNEL_REASONING);
    // Credit is given in order, so the last one's stands for the burst's.
    await credit;
    await leaveLoop();
    sent += size;
  }
  return `flooded: ${String(count)} deltas of ${String(bytes)} bytes`;
}

/** Turns of the loop that what was said needs to leave the process. */
const TURNS_TO_LEAVE = 8;

/** Keeps the loop busy, once what was said before has left. */
export async function spin(clock: Clock, ms: number): Promise<void> {
  for (let turn = 0; turn < TURNS_TO_LEAVE; turn++) await leaveLoop();
  const until = clock.monotonic() + ms;
  while (clock.monotonic() < until);
}

/** Waits. @throws the signal's reason when it aborts. */
export async function sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const onAbort = (): void => {
      cancel();
      reject(signal.reason as Error);
    };
    const cancel = clock.after(ms, () => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    });
    signal.addEventListener("abort", onAbort, { once: true });
  });
}

/** A repeated text, in pieces of about 16 KiB. */
export function* repeated(text: string, count: number): Generator<string, void, void> {
  const perPiece = Math.max(1, Math.floor(16_384 / text.length));
  for (let left = count; left > 0; left -= perPiece) yield text.repeat(Math.min(left, perPiece));
}
