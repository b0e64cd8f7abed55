import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { afterEach, expect, test } from "vitest";

import { StorageError } from "../../src/base/storageError.js";
import { DirectMessageServiceService } from "../../src/gen/talaria/dm/v1/direct_message_service.js";
import { Reason } from "../../src/gen/talaria/reason/v1/reason.js";
import { ConversationMessage, MessageRole } from "../../src/gen/talaria/types/v1/conversation.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { createServeRooms } from "../../src/gateway/createServeRooms.js";
import { startGateway } from "../../src/gateway/gateway.js";
import type { GatewayContext } from "../../src/gateway/gatewayContext.js";
import { defineCommand } from "../../src/store/command.js";
import { ended } from "../dm/calls.js";
import { writeHome } from "../kit/homeFiles.js";
import { keepResult } from "../kit/keepResult.js";
import { startTestGateway, type TestGateway } from "../kit/testGateway.js";
import { refusalOf, sessionOf, TurnClient } from "../kit/turnClient.js";
import { beginRunningTurn } from "../kit/heldTurn.js";
import { useForeignWorkers } from "../kit/useForeignWorkers.js";
import { waitUntil } from "../kit/waitFor.js";

const workers = useForeignWorkers();
const agents = { echo: { runtime: "echo" }, foreign: { runtime: "command", worker: { command: workers.command } } };

let gateway: TestGateway | undefined;
const homes: string[] = [];
afterEach(async () => {
  await gateway?.close();
  gateway = undefined;
  for (const home of homes.splice(0)) rmSync(home, { recursive: true, force: true });
});

async function start(home: string): Promise<TestGateway> {
  gateway = await startTestGateway({ home });
  return gateway;
}

function makeHome(): string {
  const home = writeHome({ agents, budgets: { exitAfterFinishedMs: 1_000, stopTotalMs: 2_000 } });
  homes.push(home);
  return home;
}

/** SQLite's own bound on a database, in pages; what is asked for below the present size is the present size. */
const bound = defineCommand<number, undefined>({
  name: "test.bound",
  run(tx, pages) {
    tx.get(`PRAGMA max_page_count = ${String(pages)}`);
    return undefined;
  },
});
const fill = defineCommand<undefined, undefined>({
  name: "test.fill",
  run(tx) {
    tx.run("CREATE TABLE IF NOT EXISTS filler (bytes BLOB NOT NULL) STRICT");
    tx.run("INSERT INTO filler VALUES (zeroblob(4000))");
    return undefined;
  },
});
const MOST_PAGES = 1_073_741_823;

/** Leaves the store no free page. */
async function takeRoom({ context }: TestGateway): Promise<void> {
  const { writer } = context.store;
  await writer.execute(bound, 1);
  for (;;) {
    try {
      await writer.execute(fill, undefined);
    } catch (error) {
      expect(error).toMatchObject({ kind: "full" });
      expect(error).toBeInstanceOf(StorageError);
      return;
    }
  }
}

async function giveRoom({ context }: TestGateway): Promise<void> {
  await context.store.writer.execute(bound, MOST_PAGES);
}

const begin = (of: TestGateway) => beginRunningTurn(of, workers);

/** Longer than a page, so that it needs one that is free. */
const LONG = "long ".repeat(10_000);

test("A2-5 on a full disk new work is refused by its reason, and outcomes are put off until there is room, none is lost", async () => {
  const of = await start(makeHome());
  const { client } = of;
  const [done, broken, writing] = [await begin(of), await begin(of), await begin(of)];
  broken.worker.startTool("call");
  await broken.run.next("events");
  const follower = client.say(await sessionOf(done.run), "follower");
  const { turn: waiting } = await follower.next("inputQueued");
  await takeRoom(of);

  expect(await refusalOf(client.run("echo", LONG))).toBe("STORAGE_FULL");
  const message = { requestId: randomUUID(), target: "agent:echo", body: LONG.slice(0, 15_000) };
  const sent = unaryCall(client.client, DirectMessageServiceService.sendDirectMessage, {
    ...message,
    inReplyTo: "",
    onBehalfOf: "",
    trace: undefined,
  });
  expect(await refusalOf(sent)).toBe("STORAGE_FULL");
  const row = ConversationMessage.fromPartial({ role: MessageRole.MESSAGE_ROLE_ASSISTANT, text: LONG });
  const write = () => writing.worker.persist(1n, { $case: "appendMessages", value: { messages: [row] } });
  expect(await refusalOf(write())).toBe("STORAGE_FULL");

  done.worker.result({ finalResponse: LONG });
  const text = "broken ".repeat(500);
  broken.worker.send({ $case: "error", value: { reason: Reason.REASON_RUNTIME_CONFIG, message: text } });
  const putOff = (): number => of.log.filter((line) => line.includes("trying again")).length;
  await waitUntil("both outcomes are put off", () => putOff() >= 2, putOff);
  // A worker that has given its result may leave: it is the owner's now.
  done.worker.exit(0);
  // What is there can be read.
  expect((await client.turn(waiting?.inputId ?? "")).outcome).toBe("UNSPECIFIED");
  for (const { run } of [done, broken]) expect(run.kinds).not.toContain("turnEnded");
  expect(of.rows("SELECT 1 FROM inputs WHERE outcome IS NOT NULL")).toEqual([]);

  await giveRoom(of);
  expect(await done.run.outcome()).toMatchObject({ outcome: "COMPLETED", answer: LONG });
  expect(await broken.run.outcome()).toMatchObject({ outcome: "UNKNOWN", reason: "RUNTIME_CONFIG" });
  // The number of a write that was refused is free for the same write.
  expect(await write()).toMatchObject({ replayed: false });
  writing.worker.result({ finalResponse: "wrote" });
  expect((await writing.run.outcome()).answer).toBe("wrote");
  const next = await workers.next();
  await next.running();
  next.result({ finalResponse: "went on" });
  expect((await follower.outcome()).answer).toBe("went on");
  for (const { run } of [done, broken, writing]) {
    expect(run.kinds.filter((kind) => kind === "turnEnded")).toHaveLength(1);
  }
  expect(of.rows("SELECT admitted, started, ended FROM turn_totals")).toEqual([{ admitted: 4, started: 4, ended: 4 }]);
  expect(of.rows("SELECT 1 FROM deliveries")).toEqual([]);
});

/** A gateway whose disk is full while its worker, which has kept its result, waits for the outcome's commit. */
async function outcomePutOff(home: string) {
  const of = await start(home);
  const { run, worker } = await begin(of);
  const { turn } = await run.next("inputQueued");
  await takeRoom(of);
  worker.result({ finalResponse: LONG });
  await waitUntil("the outcome is put off", () => of.log.some((line) => line.includes("trying again")));
  keepResult(worker.bootstrap, LONG);
  return { of, inputId: turn?.inputId ?? "" };
}

test("OW-R11 a gateway whose disk is full can be ended; the next start, with room, records what the worker kept", async () => {
  const home = makeHome();
  const { of, inputId } = await outcomePutOff(home);
  await of.gateway.drain(0);
  await of.close();

  const again = await start(home);
  expect(await again.client.turn(inputId)).toMatchObject({ outcome: "COMPLETED", answer: LONG });
  expect((await again.client.run("echo", "goes on").outcome()).answer).toBe("goes on");
});

test("OW-R11 a gateway that starts on a full disk waits with what a worker kept, says so once, and serves once there is room", async () => {
  const home = makeHome();
  const { of, inputId } = await outcomePutOff(home);
  const { pages } = of.rows<{ pages: number }>("SELECT page_count AS pages FROM pragma_page_count")[0] ?? { pages: 0 };
  await of.gateway.drain(0);
  await of.close();

  const log: string[] = [];
  const putOff = (): number => log.filter((line) => line.includes("trying again")).length;
  let store: GatewayContext["store"] | undefined;
  const starting = startGateway(
    // Room for what every start writes, and not for the answer.
    { home, maxPageCount: pages + 6, logDestination: { write: (line: string) => void log.push(line) } },
    (context) => {
      store = context.store;
      return createServeRooms(context);
    },
  );
  await waitUntil(
    "the outcome is put off",
    () => putOff() > 0,
    () => log.slice(-5),
  );
  await store?.writer.execute(bound, MOST_PAGES);
  const again = await starting;
  expect(putOff()).toBe(1);
  expect(log.filter((line) => line.includes("had to wait is stored"))).toHaveLength(1);
  const client = new TurnClient(again.addresses.clientSocket);
  expect(await client.turn(inputId)).toMatchObject({ outcome: "COMPLETED", answer: LONG });
  client.close();
  await again.close();
});

test("DM-R27 a store that takes nothing for a while makes refusals, no flood in the log, and goes on by itself", async () => {
  const of = await start(makeHome());
  const { client } = of;
  const message = (body: string) => ({
    requestId: randomUUID(),
    target: "agent:echo",
    body,
    inReplyTo: "",
    onBehalfOf: "",
    trace: undefined,
  });
  const tell = (body: string) => unaryCall(client.client, DirectMessageServiceService.sendDirectMessage, message(body));
  await takeRoom(of);
  const before = of.log.length;
  for (let n = 0; n < 30; n++) expect(await refusalOf(tell(LONG.slice(0, 15_000)))).toBe("STORAGE_FULL");
  const loud = of.log.slice(before).filter((line) => (JSON.parse(line) as { level: number }).level >= 40);
  expect(loud.length).toBeLessThanOrEqual(3);
  await giveRoom(of);
  const { delivery } = await tell("there is room");
  expect((await ended(client.client, delivery?.deliveryId ?? "")).reply?.text).toBe("there is room");
});
