import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { saying } from "./scriptedModelReplies.js";
import { show, waitFor } from "./waitFor.js";

/** A message of a request, as it came over the wire. */
export interface RecordedMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly reasoning_content?: string;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
}

/** The body of a request for an answer. */
export interface RecordedBody {
  readonly model: string;
  readonly stream?: boolean;
  readonly messages: readonly RecordedMessage[];
  readonly tools?: readonly { readonly function: { readonly name: string; readonly parameters: unknown } }[];
  readonly [name: string]: unknown;
}

/** One request, as it came. */
export interface RecordedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: RecordedBody;
  /** Whether the client has gone away or the answer is complete. */
  closed: boolean;
}

/** Writes one answer; waits as long as it likes. */
export type ScriptedReply = (response: ServerResponse, request: RecordedRequest) => Promise<void> | void;

/** An OpenAI-compatible chat endpoint that answers by a script: real HTTP on a loopback port. */
export interface ScriptedModel {
  /** Base URL for `agent.yaml`. */
  readonly baseUrl: string;
  /** An `agent.yaml` that uses it. */
  agent(model: string, more?: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>;
  /** What has been asked so far, but for names of sessions. */
  readonly requests: readonly RecordedRequest[];
  /** The requests to one model. */
  of(model: string): readonly RecordedRequest[];
  /** Appends answers of a model; each serves one request. */
  script(model: string, ...replies: readonly ScriptedReply[]): void;
  /** Answers every request of a model whose script has run out. */
  otherwise(model: string, reply: ScriptedReply): void;
  /** Waits for the nth request to a model, from 1. */
  asked(model: string, count: number): Promise<RecordedRequest>;
  /** Ends every connection and the server. */
  close(): Promise<void>;
}

/** Starts a scripted endpoint. A request without an answer in its script gets HTTP 500, which a test sees as its failure. */
export async function startScriptedModel(): Promise<ScriptedModel> {
  const requests: RecordedRequest[] = [];
  const scripts = new Map<string, ScriptedReply[]>();
  const defaults = new Map<string, ScriptedReply>();
  const server = createServer((incoming, response) => {
    void serve(incoming, response).catch(() => {
      response.destroy();
    });
  });
  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const parts: Buffer[] = [];
    for await (const part of incoming) parts.push(part as Buffer);
    const body = JSON.parse(Buffer.concat(parts).toString("utf8")) as RecordedBody;
    const request: RecordedRequest = { path: incoming.url ?? "", headers: incoming.headers, body, closed: false };
    response.on("close", () => {
      request.closed = true;
    });
    if (isTitleRequest(body)) {
      await saying("A short title")(response, request);
      return;
    }
    requests.push(request);
    const reply = scripts.get(body.model)?.shift() ?? defaults.get(body.model);
    if (reply === undefined) {
      response.writeHead(500, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: "the script has run out" } }));
      return;
    }
    await reply(response, request);
  };
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  const of = (model: string): readonly RecordedRequest[] => requests.filter(({ body }) => body.model === model);
  const baseUrl = `http://127.0.0.1:${String(port)}/v1`;
  return {
    baseUrl,
    agent: (name, more = {}) => ({ runtime: "openai", model: name, base_url: baseUrl, ...more }),
    requests,
    of,
    script(model, ...replies) {
      scripts.set(model, [...(scripts.get(model) ?? []), ...replies]);
    },
    otherwise(model, reply) {
      defaults.set(model, reply);
    },
    asked: (model, count) =>
      waitFor(`request ${String(count)} to ${model}`, () => {
        const found = of(model)[count - 1];
        return found === undefined ? { state: show(requests.map(({ body }) => body.model)) } : { found };
      }),
    close: () =>
      new Promise<void>((resolve, reject) => {
        server.close((error) => {
          if (error === undefined) resolve();
          else reject(error);
        });
        server.closeAllConnections();
      }),
  };
}

/** Whether a request asks for a session's name; those are answered apart, so that scripts hold turns only. */
export function isTitleRequest({ messages }: RecordedBody): boolean {
  const [first] = messages;
  return typeof first?.content === "string" && first.content.startsWith("You name conversations.");
}
