import type { Client } from "@grpc/grpc-js";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { newId } from "../../src/base/ids.js";
import { systemRandom } from "../../src/base/random.js";
import type { GatewayContext } from "../../src/gateway/gatewayContext.js";
import { AgentServiceService } from "../../src/gen/talaria/gateway/v1/agent_service.js";
import { OnUnknown, SessionState, type Session } from "../../src/gen/talaria/gateway/v1/session.js";
import { SessionServiceService } from "../../src/gen/talaria/gateway/v1/session_service.js";
import { readStream } from "../../src/rpc/clients/readStream.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { defineCommand } from "../../src/store/command.js";
import { appendMessages } from "../../src/store/turns/appendMessages.js";
import { ensureBotChat } from "../../src/store/turns/ensureBotChat.js";
import { insertInput } from "../../src/store/turns/insertInput.js";
import type { StoredAuthor } from "../../src/store/turns/storedAuthor.js";
import { useGateway } from "./useGateway.js";

const author: StoredAuthor = { kind: "client", id: "client:test", displayName: "test", sentBy: "" };
const refused = (reason: string): Error => expect.objectContaining({ reason }) as Error;
let keys = 0;
const requestId = (): string => `k${String(++keys)}`;

async function create(client: Client, title = "", key = requestId()): Promise<Session> {
  const { session } = await unaryCall(client, SessionServiceService.createSession, {
    requestId: key,
    agent: "main",
    title,
    onUnknown: OnUnknown.ON_UNKNOWN_UNSPECIFIED,
    ignoreRules: false,
    safeMode: false,
    ignoreUserConfig: false,
  });
  if (session === undefined) throw new Error("no session");
  return session;
}

const addRows = defineCommand({
  name: "test.rows",
  run: (tx, { sessionId, texts }: { readonly sessionId: string; readonly texts: readonly string[] }): null => {
    const drafts = texts.map((text) => ({ role: "user" as const, text, author }));
    appendMessages(tx, sessionId, drafts, 1_000);
    return null;
  },
});

const queue = defineCommand({
  name: "test.queue",
  run: (tx, { sessionId, started }: { readonly sessionId: string; readonly started: boolean }): null => {
    const inputId = newId("inp", systemRandom);
    insertInput(tx, {
      inputId,
      sessionId,
      principal: "client:test",
      requestScope: sessionId,
      requestId: inputId,
      digest: Buffer.alloc(32),
      author,
      attribution: "",
      text: "a secret in the queue",
      depth: 0,
      headless: true,
      traceparent: "",
      tracestate: "",
      now: 1_000,
    });
    if (started) {
      tx.run("UPDATE inputs SET state = 'started', started_at = 1001 WHERE input_id = ?", inputId);
      tx.run("UPDATE turn_totals SET started = started + 1");
    }
    return null;
  },
});

async function rowsOf(client: Client, sessionId: string): Promise<string[]> {
  const texts: string[] = [];
  for (let pageToken = "", more = true; more; more = pageToken !== "") {
    const page = await unaryCall(client, SessionServiceService.readTranscript, { sessionId, pageSize: 2, pageToken });
    texts.push(...page.messages.map(({ text }) => text));
    pageToken = page.nextPageToken;
  }
  return texts;
}

test("a session is created once for its key", async () => {
  const { client } = await useGateway();
  const first = await create(client, "plans", "same");
  expect(first).toMatchObject({ agent: "main", title: "plans", state: SessionState.SESSION_STATE_IDLE });
  expect(first.policy?.runtime).toBe("echo");
  expect((await create(client, "plans", "same")).sessionId).toBe(first.sessionId);
  await expect(create(client, "other plans", "same")).rejects.toThrow(refused("REQUEST_CONFLICT"));
});

test("an unknown agent, a reserved title and a missing key are refused with the field or the reason", async () => {
  const { client } = await useGateway();
  await expect(create(client, "Bot Chat")).rejects.toThrow(refused("SESSION_PROTECTED"));
  await expect(create(client, "", "")).rejects.toThrow(/request_id/);
  await expect(create(client, "a\nb")).rejects.toThrow(/title/);
  await expect(unaryCall(client, AgentServiceService.getAgent, { name: "nobody" })).rejects.toThrow(/nobody/);
  const sessionId = newId("ses", systemRandom);
  await expect(unaryCall(client, SessionServiceService.getSession, { sessionId })).rejects.toThrow(
    refused("UNKNOWN_SESSION"),
  );
  await expect(unaryCall(client, SessionServiceService.getSession, { sessionId: "x" })).rejects.toThrow(/session_id/);
});

test("a transcript of long rows is read in pages that one message carries", async () => {
  const { client, context } = await useGateway();
  const { sessionId } = await create(client);
  const texts = ["a", "b", "c", "d", "e"].map((letter) => letter.repeat(1_000_000));
  for (const text of texts) await context.store.writer.execute(addRows, { sessionId, texts: [text] });
  const read: string[] = [];
  const sizes: number[] = [];
  for (let pageToken = "", first = true; first || pageToken !== ""; first = false) {
    const page = await unaryCall(client, SessionServiceService.readTranscript, { sessionId, pageSize: 100, pageToken });
    read.push(...page.messages.map(({ text }) => text));
    sizes.push(page.messages.length);
    pageToken = page.nextPageToken;
  }
  expect(sizes).toEqual([2, 2, 1]);
  expect(read.map((text) => [text[0], text.length])).toEqual(texts.map((text) => [text[0], text.length]));
});

test("lists page through everything once, last changed first, by filter", async () => {
  const { client, context } = await useGateway();
  const ids: string[] = [];
  for (let count = 0; count < 5; count++) ids.push((await create(client)).sessionId);
  await context.store.writer.execute(queue, { sessionId: ids[0] ?? "", started: false });
  const listed: string[] = [];
  const request = { agent: "main", pageSize: 2, states: [], parentSessionId: "" };
  let pageToken = "";
  do {
    const page = await unaryCall(client, SessionServiceService.listSessions, { ...request, pageToken });
    expect(page.sessions.length).toBeLessThanOrEqual(2);
    listed.push(...page.sessions.map(({ sessionId }) => sessionId));
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  expect([...listed].sort()).toEqual([...ids].sort());

  const states = [SessionState.SESSION_STATE_QUEUED];
  const queued = await unaryCall(client, SessionServiceService.listSessions, { ...request, states, pageToken: "" });
  expect(queued.sessions.map(({ sessionId, queuedInputs }) => [sessionId, queuedInputs])).toEqual([[ids[0], 1]]);
  await expect(
    unaryCall(client, SessionServiceService.listSessions, { ...request, pageToken: "forged" }),
  ).rejects.toThrow(refused("INVALID_PAGE_TOKEN"));
  await expect(
    unaryCall(client, SessionServiceService.listSessions, { ...request, pageSize: 101, pageToken: "" }),
  ).rejects.toThrow(/page_size/);
});

test("a reset keeps the rows, marks the place once and is refused while a turn runs", async () => {
  const { client, context } = await useGateway();
  const { sessionId } = await create(client);
  await context.store.writer.execute(addRows, { sessionId, texts: ["one", "two", "three"] });
  const reset = { requestId: requestId(), sessionId };
  await unaryCall(client, SessionServiceService.resetSession, reset);
  await unaryCall(client, SessionServiceService.resetSession, reset);
  expect(await rowsOf(client, sessionId)).toEqual(["one", "two", "three", "The conversation was reset here."]);
  const from = context.store.reader.get<{ context_from_row: number }>("SELECT context_from_row FROM sessions");
  expect(from?.context_from_row).toBe(5);

  await context.store.writer.execute(queue, { sessionId, started: true });
  await expect(
    unaryCall(client, SessionServiceService.resetSession, { requestId: requestId(), sessionId }),
  ).rejects.toThrow(refused("SESSION_BUSY"));
});

test("a deleted session is gone from every table and from the files", async () => {
  const { client, context } = await useGateway();
  const { sessionId } = await create(client);
  await context.store.writer.execute(addRows, { sessionId, texts: ["a secret in the transcript"] });
  await context.store.writer.execute(queue, { sessionId, started: false });
  expect(await filesHold(context, "a secret in")).toBe(true);
  const request = { requestId: requestId(), sessionId };
  await unaryCall(client, SessionServiceService.deleteSession, request);
  await unaryCall(client, SessionServiceService.deleteSession, request);
  await expect(unaryCall(client, SessionServiceService.getSession, { sessionId })).rejects.toThrow(
    refused("UNKNOWN_SESSION"),
  );
  for (const table of ["inputs", "messages", "executions"]) {
    expect(context.store.reader.all(`SELECT * FROM ${table}`)).toEqual([]);
  }
  expect(await filesHold(context, "a secret in")).toBe(false);
  const totals = context.store.reader.get("SELECT admitted, ended, ended_unstarted FROM turn_totals");
  expect(totals).toEqual({ admitted: 1, ended: 1, ended_unstarted: 1 });
});

test("a busy session is not deleted", async () => {
  const { client, context } = await useGateway();
  const { sessionId } = await create(client);
  await context.store.writer.execute(queue, { sessionId, started: true });
  await expect(
    unaryCall(client, SessionServiceService.deleteSession, { requestId: requestId(), sessionId }),
  ).rejects.toThrow(refused("SESSION_BUSY"));
});

test("a Bot Chat keeps its title; other settings change", async () => {
  const { client, context } = await useGateway();
  const sessionId = newId("ses", systemRandom);
  await context.store.writer.execute(
    defineCommand({
      name: "test.botChat",
      run: (tx, id: string) => ensureBotChat(tx, { agent: "main", sessionId: id, policy: Buffer.alloc(0), now: 1 }),
    }),
    sessionId,
  );
  const rename = { requestId: requestId(), sessionId, title: "mine" };
  await expect(unaryCall(client, SessionServiceService.renameSession, rename)).rejects.toThrow(
    refused("SESSION_PROTECTED"),
  );
  const update = { requestId: requestId(), sessionId, onUnknown: OnUnknown.ON_UNKNOWN_PAUSE };
  const { session } = await unaryCall(client, SessionServiceService.updateSession, update);
  expect(session?.onUnknown).toBe(OnUnknown.ON_UNKNOWN_PAUSE);
  const { agent } = await unaryCall(client, AgentServiceService.getAgent, { name: "main" });
  expect(agent?.botChatSessionId).toBe(sessionId);
});

test("an export is the session whole", async () => {
  const { client, context } = await useGateway();
  const { sessionId } = await create(client, "whole");
  const texts = Array.from({ length: 250 }, (_, index) => `row ${String(index)}`);
  await context.store.writer.execute(addRows, { sessionId, texts });
  const parts: unknown[] = [];
  for await (const { part } of readStream(client, SessionServiceService.exportSession, { sessionId })) {
    parts.push(part?.$case === "message" ? part.value.text : part?.$case);
  }
  expect(parts).toEqual(["session", ...texts]);
});

test("a disk that fills up refuses what would be written, and reads go on", async () => {
  const { gateway, context } = await useGateway();
  const pages = context.store.reader.get<{ page_count: number }>("PRAGMA page_count")?.page_count ?? 0;
  await gateway.close();
  const { client } = await useGateway({ home: gateway.home, maxPageCount: pages + 2 });
  const fill = async (): Promise<void> => {
    for (let count = 0; count < 1_000; count++) await create(client, "x".repeat(200));
  };
  await expect(fill()).rejects.toThrow(refused("STORAGE_FULL"));
  const page = { agent: "", pageSize: 100, pageToken: "", states: [], parentSessionId: "" };
  const { sessions } = await unaryCall(client, SessionServiceService.listSessions, page);
  expect(sessions.length).toBeGreaterThan(0);
  expect(sessions.every(({ title }) => title.length === 200)).toBe(true);
});

async function filesHold(context: GatewayContext, text: string): Promise<boolean> {
  const files = ["state.db", "state.db-wal"].map((name) => join(context.paths.root, name));
  return files.some((file) => readFileSync(file).includes(text));
}
