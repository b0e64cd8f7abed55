import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setImmediate as nextTick } from "node:timers/promises";

import type { ScriptedReply } from "./scriptedModel.js";

/** A call that a scripted model asks for. */
export interface ScriptedCall {
  readonly id: string;
  readonly name: string;
  /** Arguments: an object, or the exact text, however broken. */
  readonly arguments: Readonly<Record<string, unknown>> | string;
}

/** Figures that end a stream, as providers write them. */
export const SCRIPTED_USAGE = {
  prompt_tokens: 120,
  completion_tokens: 30,
  total_tokens: 150,
  prompt_tokens_details: { cached_tokens: 64 },
  completion_tokens_details: { reasoning_tokens: 12 },
} as const;

/** One chunk of a stream with a delta. */
export function chunk(delta: Readonly<Record<string, unknown>>, finish: string | null = null): object {
  return {
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1_780_000_000,
    model: "served-model",
    choices: [{ index: 0, delta, finish_reason: finish }],
  };
}

/** The chunk that carries the figures and no choice. */
export function usageChunk(usage: object = SCRIPTED_USAGE): object {
  return { id: "chatcmpl-1", object: "chat.completion.chunk", model: "served-model", choices: [], usage };
}

/** Streams chunks as server-sent events; texts are sent as they are. */
export function streaming(...events: readonly (object | string)[]): ScriptedReply {
  return async (response) => {
    begin(response);
    for (const event of events) await send(response, typeof event === "string" ? event : sse(event));
    response.end("data: [DONE]\n\n");
  };
}

/** Says a text word by word. */
export function saying(text: string, usage: object = SCRIPTED_USAGE): ScriptedReply {
  const words = text.match(/\s*\S+\s*/g) ?? [];
  return streaming(
    chunk({ role: "assistant", content: "" }),
    ...words.map((content) => chunk({ content })),
    chunk({}, "stop"),
    usageChunk(usage),
  );
}

/** Asks for calls, each at once. */
export function calling(...calls: readonly ScriptedCall[]): ScriptedReply {
  return streaming(
    chunk({ role: "assistant", content: null }),
    ...calls.map((call, index) =>
      chunk({
        tool_calls: [
          { index, id: call.id, type: "function", function: { name: call.name, arguments: argumentsText(call) } },
        ],
      }),
    ),
    chunk({}, "tool_calls"),
    usageChunk(),
  );
}

/** Asks for calls whose arguments come in pieces of three characters, those of all calls mixed. */
export function callingInFragments(...calls: readonly ScriptedCall[]): ScriptedReply {
  const fragments = calls.flatMap((call, index) =>
    (argumentsText(call).match(/[^]{1,3}/g) ?? []).map((text, place) => ({ index, text, place })),
  );
  fragments.sort((a, b) => a.place - b.place || a.index - b.index);
  return streaming(
    chunk({ role: "assistant", content: "" }),
    ...calls.map(({ id, name }, index) =>
      chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }),
    ),
    ...fragments.map(({ index, text }) => chunk({ tool_calls: [{ index, function: { arguments: text } }] })),
    chunk({}, "tool_calls"),
    usageChunk(),
  );
}

/** Sends what a reply sends in writes of a few bytes, across characters and events. */
export function inPieces(bytes: number, ...events: readonly object[]): ScriptedReply {
  return async (response) => {
    begin(response);
    const whole = Buffer.from([...events.map(sse), "data: [DONE]\n\n"].join(""), "utf8");
    for (let start = 0; start < whole.length; start += bytes) {
      await send(response, whole.subarray(start, start + bytes));
    }
    response.end();
  };
}

/** Refuses with a status and a JSON body. */
export function refusing(status: number, body: object, headers: Readonly<Record<string, string>> = {}): ScriptedReply {
  return (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(body));
  };
}

/** Answers with a web page. */
export function page(status = 200): ScriptedReply {
  return (response) => {
    response.writeHead(status, { "content-type": "text/html; charset=utf-8" });
    response.end("<!doctype html><html><head><title>Welcome</title></head><body>It works</body></html>");
  };
}

/** Streams some chunks, then cuts the connection. */
export function dropping(...events: readonly object[]): ScriptedReply {
  return async (response) => {
    if (events.length > 0) {
      begin(response);
      for (const event of events) await send(response, sse(event));
    }
    // The bytes must be on their way before the connection goes.
    await nextTick();
    response.destroy();
  };
}

/** Says a word over and over until the client leaves. */
export function endless(word: string): ScriptedReply {
  return async (response) => {
    begin(response);
    while (!response.destroyed) await send(response, sse(chunk({ content: word })));
  };
}

/** Streams some chunks and then nothing more, until the client leaves. */
export function hanging(...events: readonly object[]): ScriptedReply {
  return async (response) => {
    begin(response);
    for (const event of events) await send(response, sse(event));
    if (!response.destroyed) await once(response, "close");
  };
}

function begin(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  response.socket?.setNoDelay(true);
}

function sse(event: object): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}

function argumentsText({ arguments: given }: ScriptedCall): string {
  return typeof given === "string" ? given : JSON.stringify(given);
}

async function send(response: ServerResponse, text: string | Buffer): Promise<void> {
  if (response.destroyed) return;
  if (!response.write(text)) {
    await Promise.race([once(response, "drain"), once(response, "close")]);
    return;
  }
  await nextTick();
}
