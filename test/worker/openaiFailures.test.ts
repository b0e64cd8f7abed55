import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";

import { TurnExit } from "../../src/gen/talaria/types/v1/result.js";
import { startScriptedModel } from "../kit/scriptedModel.js";
import {
  calling,
  chunk,
  dropping,
  endless,
  page,
  refusing,
  saying,
  streaming,
  usageChunk,
} from "../kit/scriptedModelReplies.js";
import { sessionOf } from "../kit/turnClient.js";
import { useTestGateway } from "../kit/useTestGateway.js";
import { waitUntil } from "../kit/waitFor.js";

const model = await startScriptedModel();
const KEY = "sk-scripted-failures-0123456789";
const closedPort = await new Promise<number>((resolve) => {
  const server = createServer();
  server.listen(0, "127.0.0.1", () => {
    const { port } = server.address() as AddressInfo;
    server.close(() => {
      resolve(port);
    });
  });
});
const agent = (name: string, more: object = {}) => model.agent(name, { api_key_env: "SCRIPTED_KEY", ...more });
const gateway = useTestGateway({
  // A busy machine takes its time over Stop; what is tested is that it comes to its end.
  budgets: { turnFinalWorkMs: 2_000, stopTermAfterMs: 2_500, stopKillAfterMs: 4_000, stopTotalMs: 6_000 },
  env: { ...process.env, SCRIPTED_KEY: KEY },
  agents: {
    ...Object.fromEntries(
      ["key", "missing", "web", "limited", "resets", "flaky", "cut", "late", "erring", "talker", "long", "full"].map(
        (name) => [name, agent(name)],
      ),
    ),
    poor: agent("poor", { fallback_models: ["rich"] }),
    broke: agent("broke", { fallback_models: ["broker"] }),
    looper: agent("looper", { limits: { max_model_calls: 4 } }),
    nowhere: agent("nowhere", { base_url: `http://127.0.0.1:${String(closedPort)}/v1` }),
    keyless: agent("keyless", { api_key_env: "NOT_SET_ANYWHERE" }),
  },
});
afterAll(() => model.close());

const error = (message: string, more: object = {}): object => ({ error: { message, ...more } });
const run = (name: string) => gateway().client.run(name, "go").outcome();

test("a wrong key, a missing model, a web page and a closed port have their own reasons", async () => {
  // What a provider says of a key may hold it.
  model.script("key", refusing(401, error(`Incorrect API key provided: ${KEY}`)));
  const key = await run("key");
  expect(key).toMatchObject({ outcome: "FAILED", reason: "PROVIDER_AUTH", answer: "" });
  expect(key.message).toMatch(/^The model provider refused the key \(HTTP 401\): Incorrect API key provided: /);
  expect(key.message).not.toContain(KEY);
  model.script("missing", refusing(404, error("The model `missing` does not exist", { code: "model_not_found" })));
  expect(await run("missing")).toMatchObject({ outcome: "FAILED", reason: "MODEL_UNAVAILABLE" });
  model.script("web", page());
  const web = await run("web");
  expect(web).toMatchObject({ outcome: "FAILED", reason: "RUNTIME_CONFIG" });
  expect(web.message).toMatch(/answers with a web page; check base_url/);
  expect(await run("nowhere")).toMatchObject({ outcome: "FAILED", reason: "PROVIDER_UNREACHABLE" });
  expect(await run("keyless")).toMatchObject({ outcome: "FAILED", reason: "RUNTIME_CONFIG" });
});

test("a rate limit is tried again twice, then told; one that says when is told with its time", async () => {
  model.otherwise("limited", refusing(429, error("Slow down")));
  const limited = await run("limited");
  expect(limited).toMatchObject({ outcome: "FAILED", reason: "PROVIDER_RATE_LIMIT" });
  expect(limited.turn.failure?.retryable).toBe(true);
  expect(limited.turn.result?.apiCalls).toBe(3);
  expect(model.of("limited")).toHaveLength(3);
  model.script("resets", refusing(429, error("Slow down"), { "retry-after": "3600" }));
  const before = Date.now();
  const resets = await run("resets");
  expect(resets.reason).toBe("PROVIDER_RATE_LIMIT");
  expect(model.of("resets")).toHaveLength(1);
  const at = Number(resets.turn.failure?.resetsAt?.seconds ?? 0n) * 1_000;
  expect(at).toBeGreaterThan(before + 3_500_000);
  expect(at).toBeLessThan(Date.now() + 3_600_000);
});

test("a server that fails and a connection that breaks before anything came are tried again", async () => {
  model.script("flaky", refusing(503, error("busy"), { "retry-after": "0" }), dropping(), saying("There."));
  const ended = await run("flaky");
  expect(ended).toMatchObject({ outcome: "COMPLETED", answer: "There." });
  expect(ended.turn.result?.apiCalls).toBe(3);
});

test("nothing is repeated once something came; what came is kept as a part", async () => {
  model.script("cut", dropping(chunk({ content: "Half an" }), chunk({ content: " answer" })));
  const cut = await run("cut");
  expect(cut).toMatchObject({ outcome: "FAILED", reason: "PROVIDER_SERVER", answer: "Half an answer" });
  expect(cut.turn.result?.partial).toBe(true);
  expect(model.of("cut")).toHaveLength(1);
  model.script("late", streaming(chunk({ content: "Half" }), usageChunk()));
  expect(await run("late")).toMatchObject({ outcome: "FAILED", reason: "PROVIDER_SERVER", answer: "Half" });
  model.script("erring", streaming(chunk({ content: "Half" }), error("Rate limit reached", { code: 429 })));
  expect(await run("erring")).toMatchObject({ outcome: "FAILED", reason: "PROVIDER_RATE_LIMIT", answer: "Half" });
  expect(model.of("erring")).toHaveLength(1);
});

test("a used-up quota moves on to the fallback, and says so where there is none left", async () => {
  const used = refusing(429, error("You exceeded your current quota", { code: "insufficient_quota" }));
  model.script("poor", used);
  model.script("rich", calling({ id: "r", name: "read_file", arguments: { path: "x" } }), saying("From the other."));
  const moved = await run("poor");
  expect(moved).toMatchObject({ outcome: "COMPLETED", answer: "From the other." });
  expect(moved.turn.result).toMatchObject({ model: "rich", requestedModel: "poor", apiCalls: 3 });
  expect(model.of("poor")).toHaveLength(1);
  model.script("broke", used);
  model.script("broker", refusing(402, error("Payment required")));
  const broke = await run("broke");
  expect(broke).toMatchObject({ outcome: "FAILED", reason: "PROVIDER_QUOTA" });
  expect(broke.turn.result?.billingBlock).toMatchObject({ model: "broker" });
});

test("a model that never stops calling is ended by the limit, with a last word", async () => {
  model.otherwise("looper", calling({ id: "again", name: "read_file", arguments: { path: "x" } }));
  const ended = await run("looper");
  expect(ended.outcome).toBe("COMPLETED");
  expect(ended.answer).toContain("reached its limit of 4 requests to the model");
  expect(ended.turn.result).toMatchObject({
    apiCalls: 4,
    partial: true,
    turnExitReason: TurnExit.TURN_EXIT_MODEL_CALL_LIMIT,
  });
  const requests = model.of("looper");
  expect(requests).toHaveLength(4);
  expect(requests.map(({ body }) => body["tool_choice"])).toEqual(["auto", "auto", "auto", "none"]);
});

test("an answer without end is ended by Stop, and the client leaves", async () => {
  model.script("talker", endless("more "));
  const talk = gateway().client.run("talker", "go");
  const executionId = await talk.started();
  await talk.saw("more more more");
  await gateway().client.stop(executionId);
  const ended = await talk.outcome();
  expect(ended).toMatchObject({ outcome: "INTERRUPTED", answer: expect.stringMatching(/^(more )+/) });
  expect(model.of("talker")[0]?.closed).toBe(true);
});

test("a conversation that does not fit is summarised, stays readable, and the turn goes on", async () => {
  const overflow = refusing(
    400,
    error("This model's maximum context length is 100 tokens", { code: "context_length_exceeded" }),
  );
  model.script("long", saying("My name is Ada."));
  const first = gateway().client.run("long", "Who are you? Remember 4711.");
  const sessionId = await sessionOf(first);
  await first.outcome();
  model.script("long", overflow, saying("Ada said her name; the number is 4711."), saying("It is 4711."));
  const second = gateway().client.say(sessionId, "Which number?");
  expect(await second.outcome()).toMatchObject({ outcome: "COMPLETED", answer: "It is 4711." });
  const [, , summary, resumed] = model.of("long").map(({ body }) => body.messages);
  expect(summary?.at(-1)?.content).toContain("Remember 4711.");
  expect(resumed).toEqual([
    {
      role: "user",
      content: "[Summary of the conversation so far]\nAda said her name; the number is 4711.\n\nWhich number?",
    },
  ]);
  expect(
    gateway().rows("SELECT role, compacted, text FROM messages WHERE session_id = ? ORDER BY row", sessionId),
  ).toMatchObject([
    { role: "user", compacted: 1, text: "Who are you? Remember 4711." },
    { role: "assistant", compacted: 1 },
    { role: "user", compacted: 0 },
    { role: "system", compacted: 0 },
    { role: "assistant", compacted: 0, text: "It is 4711." },
  ]);
  expect(
    gateway().rows("SELECT purpose, api_calls FROM auxiliary_usage WHERE session_id = ? ORDER BY purpose", sessionId),
  ).toContainEqual({ purpose: "compaction", api_calls: 1 });
  // Once in a turn: a second refusal is the turn's.
  model.script("full", overflow);
  expect(await run("full")).toMatchObject({ outcome: "FAILED", reason: "CONTEXT_OVERFLOW" });
});

test("the key is in no log and nowhere in the home", async () => {
  await waitUntil("the workers are gone", () => gateway().workerPids().length === 0);
  const files = readdirSync(gateway().home, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  expect(files.some(({ name }) => name === "state.db")).toBe(true);
  const holding = files.filter(({ parentPath, name }) => readFileSync(join(parentPath, name)).includes(KEY));
  expect(holding.map(({ name }) => name)).toEqual([]);
  expect(gateway().log.join("")).not.toContain(KEY);
});
