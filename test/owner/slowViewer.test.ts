import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

import {
  type RunTurnRequest,
  type SessionUpdate,
  TurnServiceService,
} from "../../src/gen/talaria/gateway/v1/turn_service.js";
import { readStream, type ResponseStream } from "../../src/rpc/clients/readStream.js";
import { describeTurn, sessionOf, UpdateLog } from "../kit/turnClient.js";
import { useForeignWorkers } from "../kit/useForeignWorkers.js";
import { useServe } from "../kit/useServe.js";

const workers = useForeignWorkers();
const fixture = useServe();

/** Text of one frame, bytes, and the number of frames: far more than a viewer is granted, or a gateway needs. */
const PIECE = 128 * 1024;
const PIECES = 1_024;
/** How much a gateway may grow while it carries 128 MiB past viewers that read nothing, bytes. */
const GROWTH = 88 * 1024 * 1024;

/** The memory of a process that is no file's, bytes. */
function residentBytes(pid: number): number {
  const [, kib = "0"] = /^RssAnon:\s+(\d+) kB/m.exec(readFileSync(`/proc/${String(pid)}/status`, "utf8")) ?? [];
  return Number(kib) * 1024;
}

test("viewers that read nothing cost a flooded gateway a bound of memory, are told of their gap, and hold nobody else up", async () => {
  const agents = { foreign: { runtime: "command", worker: { command: workers.command } } };
  const gateway = await fixture.serve(fixture.home({}, { agents }));
  const reading = gateway.connect();
  const request: RunTurnRequest = {
    requestId: randomUUID(),
    target: { $case: "agent", value: "foreign" },
    text: "flood",
    attachmentIds: [],
    headless: false,
    sessionTitle: "",
    trace: undefined,
    answersPrompts: false,
  };
  const starter = reading.request(request);
  const sessionId = await sessionOf(starter);
  const worker = await workers.next();
  await worker.running();
  const watch = reading.watch(sessionId);
  await watch.next("snapshot");
  // Two that open their streams and read nothing: a watch, and a run of the same turn by its key.
  const deafWatch = readStream(gateway.connect().client, TurnServiceService.watchSession, {
    sessionId,
    cursor: undefined,
    answersPrompts: false,
    snapshotRows: 50,
  });
  const deafRun = readStream(gateway.connect().client, TurnServiceService.runTurn, request);

  // What the reading viewer has seen is let go of here, so that only the gateway's memory is measured.
  let seen = 0;
  let gaps = 0;
  const count = (): void => {
    for (const { update } of watch.items.splice(0)) {
      if (update?.$case === "gap") gaps += 1;
      if (update?.$case !== "events") continue;
      for (const { event } of update.value.events) if (event?.$case === "delta") seen += event.value.text.length;
    }
    starter.items.splice(0);
  };
  count();
  const step = async (piece: number): Promise<void> => {
    worker.say(String(piece % 10).repeat(PIECE));
    await watch.until(`piece ${String(piece)}`, () => {
      count();
      return seen >= (piece + 1) * PIECE ? true : undefined;
    });
  };
  const WARM = 64;
  for (let piece = 0; piece < WARM; piece += 1) await step(piece);
  const before = residentBytes(gateway.pid);
  for (let piece = WARM; piece < PIECES; piece += 1) await step(piece);
  expect(residentBytes(gateway.pid) - before).toBeLessThan(GROWTH);
  expect(seen).toBe(PIECES * PIECE);
  expect(gaps).toBe(0);

  const [late, lateRun] = [deafWatch, deafRun].map(
    (stream: ResponseStream<{ update: SessionUpdate | undefined }>) => new UpdateLog(stream),
  );
  const gap = await late?.next("gap");
  expect(gap?.requested).toBeUndefined();
  await late?.until("a snapshot behind the gap", () => {
    const behind = late.kinds.slice(late.kinds.indexOf("gap"));
    return behind.includes("snapshot") ? true : undefined;
  });
  await lateRun?.next("gap");
  worker.result({ finalResponse: "over" });
  for (const log of [late, lateRun, watch])
    expect(describeTurn((await log?.next("turnEnded"))?.turn).answer).toBe("over");
  // The next turn reaches the viewer that had been slow as it reaches everybody.
  await worker.next("finish");
  worker.exit(0);
  const next = reading.say(sessionId, "next");
  const successor = await workers.next();
  await successor.running();
  successor.say("quick");
  await late?.saw("quick");
  successor.result({ finalResponse: "quick" });
  expect((await next.outcome()).answer).toBe("quick");
  await successor.next("finish");
  successor.exit(0);
  for (const log of [late, watch]) log?.cancel();
}, 90_000);
