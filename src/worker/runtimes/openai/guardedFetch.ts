import type { Clock } from "../../../base/clock.js";
import { judgeConnectionError } from "./judgeConnectionError.js";
import { judgeRefusal } from "./judgeRefusal.js";
import { ModelFailureError } from "./modelFailure.js";

/** Longest body of a refusal that is read, bytes. */
const REFUSAL_BYTES = 65_536;
/** Longest line of a stream, bytes. */
const LINE_BYTES = 8 * 1_048_576;
/** Longest stream, bytes: an answer of 64 MiB with its wrapping does not fit, and no model gives one. */
const STREAM_BYTES = 64 * 1_048_576;
const NEWLINE = 10;
/** Longest time in which the body of a refusal is read, milliseconds: what came by then says enough. */
const REFUSAL_MS = 5_000;
/** How long the end of a stream is waited for after its last event, milliseconds: a connection that ends by itself can be used again. */
const END_MS = 500;
/** What the last event of a stream holds. */
const DONE = /^data: ?\[DONE\]\r?$/m;
const DONE_BYTES = 32;

/**
 * A `fetch` for chat endpoints: every way in which one can be no stream of events ends in a {@link ModelFailureError} that says so,
 * with a bounded part of the body read. Follows no redirects, which would carry the conversation elsewhere.
 */
export function guardedFetch(clock: Clock): typeof fetch {
  return async (input, init) => {
    const { host } = new URL(input instanceof Request ? input.url : input);
    const aborted = (): boolean => init?.signal?.aborted === true;
    const fail = (error: unknown): never => {
      if (aborted() || error instanceof ModelFailureError) throw error;
      throw new ModelFailureError(judgeConnectionError(error, host));
    };
    let response: Response;
    try {
      response = await fetch(input, { ...init, redirect: "error" });
      const type = (response.headers.get("content-type") ?? "").toLowerCase();
      const isStream = type === "" || type.startsWith("text/event-stream");
      if (!response.ok || !isStream) throw await refused(response, type, host, clock);
    } catch (error) {
      return fail(error);
    }
    const body = response.body === null ? null : untilDone(response.body.pipeThrough(bounded(host)), clock);
    return new Response(body, { status: response.status, headers: response.headers });
  };
}

async function refused(response: Response, type: string, host: string, clock: Clock): Promise<ModelFailureError> {
  const body = await start(response, clock);
  const headers = Object.fromEntries(response.headers);
  if (!response.ok) return new ModelFailureError(judgeRefusal({ status: response.status, headers, body }, clock.now()));
  if (type.startsWith("application/json") && /"error"/.test(body)) {
    return new ModelFailureError(judgeRefusal({ status: undefined, headers, body }, clock.now()));
  }
  const what = type.startsWith("text/html") ? "a web page" : `${type.split(";")[0] ?? ""}, not a stream of events`;
  return new ModelFailureError({
    reason: "RUNTIME_CONFIG",
    message: `The endpoint at ${host} answers with ${what}; check base_url.`,
    retryable: false,
    again: false,
  });
}

/** The start of a body as text, as far as it comes in time; the rest is never fetched. */
async function start(response: Response, clock: Clock): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  const reader = (response.body as ReadableStream<Uint8Array> | null)?.getReader();
  // A read that is under way ends with the cancellation.
  const cancel = clock.after(REFUSAL_MS, () => {
    reader?.cancel().catch(() => undefined);
  });
  try {
    while (reader !== undefined && bytes < REFUSAL_BYTES) {
      const { done, value } = await reader.read();
      if (done) break;
      parts.push(value);
      bytes += value.length;
    }
  } finally {
    cancel();
  }
  await reader?.cancel();
  return Buffer.concat(parts).subarray(0, REFUSAL_BYTES).toString("utf8");
}

/** Ends a stream with its last event: some servers keep the connection open afterwards. */
function untilDone(stream: ReadableStream<Uint8Array>, clock: Clock): ReadableStream<Uint8Array> {
  const reader = stream.getReader();
  let end = "";
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) {
          controller.close();
          return;
        }
        controller.enqueue(value);
        const last = Buffer.from(value.buffer, value.byteOffset, value.byteLength).subarray(-DONE_BYTES);
        end = (end + last.toString("latin1")).slice(-DONE_BYTES);
        if (!DONE.test(end)) return;
        controller.close();
        void drain(reader, clock);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** Reads a stream to its end, shortly. */
async function drain(reader: ReadableStreamDefaultReader<Uint8Array>, clock: Clock): Promise<void> {
  const cancel = clock.after(END_MS, () => {
    reader.cancel().catch(() => undefined);
  });
  try {
    while (!(await reader.read()).done);
  } catch {
    // Nothing of it is wanted any more.
  } finally {
    cancel();
  }
}

/** Passes a stream on until one line or the whole is longer than any answer. */
function bounded(host: string): TransformStream<Uint8Array, Uint8Array> {
  let line = 0;
  let whole = 0;
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, controller) {
      whole += piece.length;
      const last = piece.lastIndexOf(NEWLINE);
      line = last < 0 ? line + piece.length : piece.length - last - 1;
      if (line > LINE_BYTES || whole > STREAM_BYTES) {
        const message = `The stream of the model's endpoint at ${host} is longer than any answer.`;
        controller.error(new ModelFailureError({ reason: "PROVIDER_SERVER", message, retryable: false, again: false }));
        return;
      }
      controller.enqueue(piece);
    },
  });
}
