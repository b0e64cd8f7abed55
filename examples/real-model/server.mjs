// An OpenAI-compatible chat endpoint on one small local model. See docs/real-model.md.
//   node server.mjs [--port 0] [--threads 1] [--context 3072] [--call auto|required] [--temperature 0.2] [--seed 1] [--log FILE]
import { randomUUID } from "node:crypto";
import { appendFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { parseArgs } from "node:util";
import { AnswerReader } from "./answerReader.mjs";
import { openLocalModel, TooLong } from "./localModel.mjs";

const MODEL = "smollm2-135m-instruct-q4_1";
/** Largest request, bytes. */
const BODY_BYTES = 4 * 1_048_576;
/** Tokens of an answer where the request names no bound. */
const ANSWER_TOKENS = 128;

const { values: options } = parseArgs({
  options: {
    model: { type: "string", default: `${import.meta.dirname}/.models/SmolLM2-135M-Instruct.Q4_1.gguf` },
    port: { type: "string", default: "0" },
    threads: { type: "string", default: "1" },
    context: { type: "string", default: "3072" },
    call: { type: "string", default: "auto" },
    temperature: { type: "string", default: "0.2" },
    seed: { type: "string", default: "1" },
    log: { type: "string", default: "" },
  },
});
if (!["auto", "required"].includes(options.call)) throw new Error("--call is auto or required");
if (!statSync(options.model, { throwIfNoEntry: false })) throw new Error("no model: run install.sh first");

const model = await openLocalModel({
  path: options.model,
  threads: Number(options.threads),
  contextSize: Number(options.context),
});
let requests = 0;

/**
 * What the model may do. With `--call required`, "auto" becomes "required" where the last message is a user's and names an offered
 * tool in backquotes: the model still chooses the tool, but not whether to use one.
 * @param {any} body @returns {{ choice: string, callable: any[], mayTalk: boolean }}
 */
function choiceOf({ tool_choice: asked = "auto", tools = [], messages }) {
  const functions = tools.map((/** @type {any} */ tool) => tool.function);
  if (functions.length === 0 || asked === "none") return { choice: "none", callable: [], mayTalk: true };
  if (typeof asked === "object") {
    const { name } = asked.function;
    const callable = functions.filter((/** @type {any} */ tool) => tool.name === name);
    if (callable.length === 0) throw new TypeError(`tool_choice names ${name}, which is not among the tools`);
    return { choice: name, callable, mayTalk: false };
  }
  const last = messages.at(-1);
  const text = last?.role === "user" ? JSON.stringify(last.content) : "";
  const names = functions.some((/** @type {any} */ tool) => text.includes(`\`${tool.name}\``));
  const required = asked === "required" || (options.call === "required" && names);
  return { choice: required ? "required" : "auto", callable: functions, mayTalk: !required };
}

/** @param {any} body @param {(delta: any) => void} send @param {AbortSignal} signal */
async function complete(body, send, signal) {
  const { choice, callable, mayTalk } = choiceOf(body);
  const reader = new AnswerReader(callable.length > 0);
  const id = `call_${randomUUID().replaceAll("-", "").slice(0, 24)}`;
  /** @param {import("./answerReader.mjs").Piece} piece */
  const deltaOf = (piece) => {
    if (piece.kind === "text") return { content: piece.text };
    if (piece.kind === "arguments") return { tool_calls: [{ index: 0, function: { arguments: piece.text } }] };
    return { tool_calls: [{ index: 0, id, type: "function", function: { name: piece.name, arguments: "" } }] };
  };
  let written = "";
  requests += 1;
  const question = {
    messages: body.messages,
    tools: choice === "none" ? [] : callable,
    callable,
    mayTalk,
    temperature: body.temperature ?? Number(options.temperature),
    topP: body.top_p ?? 0.9,
    seed: body.seed ?? Number(options.seed) * 1000 + requests,
    maxTokens: body.max_completion_tokens ?? body.max_tokens ?? ANSWER_TOKENS,
    signal,
  };
  const begun = performance.now();
  const took = await model.answer(question, (text) => {
    written += text;
    for (const piece of reader.add(text)) send(deltaOf(piece));
  });
  for (const piece of reader.end()) send(deltaOf(piece));
  const finish = reader.called ? "tool_calls" : took.ended ? "stop" : "length";
  const ms = Math.round(performance.now() - begun);
  if (options.log !== "") {
    const line = { choice, messages: body.messages, written, finish, ...took, ms };
    appendFileSync(options.log, `${JSON.stringify(line)}\n`);
  }
  const usage = {
    prompt_tokens: took.promptTokens,
    completion_tokens: took.writtenTokens,
    total_tokens: took.promptTokens + took.writtenTokens,
    prompt_tokens_details: { cached_tokens: took.cachedTokens },
  };
  return { finish, usage };
}

/** @param {import("node:http").IncomingMessage} request */
async function bodyOf(request) {
  const chunks = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES) throw new TypeError("the request is too large");
    chunks.push(chunk);
  }
  const body = JSON.parse(Buffer.concat(chunks).toString("utf8"));
  if (!Array.isArray(body?.messages)) throw new TypeError("messages is missing");
  return body;
}

/** @param {import("node:http").ServerResponse} response @param {unknown} error */
function refuse(response, error) {
  const status = error instanceof TypeError || error instanceof SyntaxError || error instanceof TooLong ? 400 : 500;
  const code = error instanceof TooLong ? "context_length_exceeded" : null;
  const message = error instanceof Error ? error.message : String(error);
  const text = JSON.stringify({
    error: { message, type: status === 400 ? "invalid_request_error" : "server_error", code },
  });
  if (response.headersSent) response.end(`data: ${text}\n\n`);
  else response.writeHead(status, { "content-type": "application/json" }).end(text);
}

/** @param {import("node:http").IncomingMessage} request @param {import("node:http").ServerResponse} response */
async function chat(request, response) {
  const gone = new AbortController();
  response.on("close", () => gone.abort(new Error("the client has gone")));
  const body = await bodyOf(request);
  const head = { id: `chatcmpl-${randomUUID()}`, created: Math.floor(Date.now() / 1000), model: MODEL };
  if (body.stream !== true) {
    const message = { role: "assistant", content: "", tool_calls: /** @type {any[]} */ ([]) };
    const { finish, usage } = await complete(body, (delta) => gather(message, delta), gone.signal);
    const { tool_calls: calls, ...rest } = message;
    const choices = [{ index: 0, message: calls.length > 0 ? message : rest, finish_reason: finish }];
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ ...head, object: "chat.completion", choices, usage }));
    return;
  }
  const send = (/** @type {any} */ fields) => {
    if (!response.headersSent) response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", ...fields })}\n\n`);
  };
  let role = /** @type {{ role?: string }} */ ({ role: "assistant" });
  const sendDelta = (/** @type {any} */ delta, /** @type {string | null} */ finish = null) => {
    send({ choices: [{ index: 0, delta: { ...role, ...delta }, finish_reason: finish }] });
    role = {};
  };
  const { finish, usage } = await complete(body, sendDelta, gone.signal);
  sendDelta({}, finish);
  if (body.stream_options?.include_usage === true) send({ choices: [], usage });
  response.end("data: [DONE]\n\n");
}

/** Adds a delta to a whole message. @param {any} message @param {any} delta */
function gather(message, { content = "", tool_calls: [call] = [] }) {
  message.content += content;
  if (call?.id !== undefined)
    message.tool_calls.push({ id: call.id, type: "function", function: { ...call.function } });
  else if (call !== undefined) message.tool_calls[0].function.arguments += call.function.arguments;
}

const server = createServer((request, response) => {
  const path = new URL(request.url ?? "/", "http://localhost").pathname;
  if (request.method === "GET" && path === "/v1/models") {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ object: "list", data: [{ id: MODEL, object: "model", owned_by: "local" }] }));
  } else if (request.method === "POST" && path === "/v1/chat/completions") {
    chat(request, response).catch((error) => refuse(response, error));
  } else {
    response.writeHead(404, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message: `nothing is at ${path}`, type: "invalid_request_error" } }));
  }
});
server.listen(Number(options.port), "127.0.0.1", () => {
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  console.log(JSON.stringify({ baseUrl: `http://127.0.0.1:${port}/v1`, model: MODEL }));
});
