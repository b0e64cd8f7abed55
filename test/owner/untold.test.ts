import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";

import { homePaths } from "../../src/base/home.js";
import { AdminServiceService, type WatchEventsResponse } from "../../src/gen/talaria/gateway/v1/admin_service.js";
import { readStream } from "../../src/rpc/clients/readStream.js";
import { defineCommand } from "../../src/store/command.js";
import { openStore } from "../../src/store/store.js";
import { writeHome } from "../kit/homeFiles.js";
import { StreamLog } from "../kit/streamLog.js";
import { startTestGateway, type TestGateway } from "../kit/testGateway.js";
import { waitUntil } from "../kit/waitFor.js";

const gateways: TestGateway[] = [];
const homes: string[] = [];
afterEach(async () => {
  for (const one of gateways.splice(0)) await one.close();
  for (const home of homes.splice(0)) rmSync(home, { recursive: true, force: true });
});

/** What a gateway leaves that dies right after the commit of an unknown outcome. */
const forgetTelling = defineCommand<string, null>({
  name: "test.forget",
  run(tx, inputId) {
    tx.run("INSERT INTO untold (input_id, telling) VALUES (?1, 'event'), (?1, 'command')", inputId);
    return null;
  },
});

async function serve(home: string): Promise<TestGateway> {
  const gateway = await startTestGateway({ home });
  gateways.push(gateway);
  return gateway;
}

async function stop(gateway: TestGateway): Promise<void> {
  gateways.splice(gateways.indexOf(gateway), 1);
  await gateway.close();
}

function watchEvents(gateway: TestGateway, epoch: bigint) {
  const events = new StreamLog<WatchEventsResponse>(({ event }) => event?.$case);
  const cursor = { epoch, sequence: 0n };
  const stream = readStream(gateway.client.client, AdminServiceService.watchEvents, { cursor });
  events.follow(stream);
  return { events, stop: () => stream.cancel() };
}

test("an unknown outcome is told once in each way; one that a gateway died over is told by the next", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tn-"));
  homes.push(folder);
  const noted = join(folder, "noted");
  const notes = (): string[] => (existsSync(noted) ? readFileSync(noted, "utf8").split("\n").filter(Boolean) : []);
  const home = writeHome({ config: { notify_command: ["/bin/sh", "-c", `cat >> ${noted}`] } });
  homes.push(home);

  const first = await serve(home);
  const run = first.client.run("echo", "!child !crash");
  const executionId = await run.started();
  await run.next("events");
  process.kill(first.workerPids()[0] ?? 0, "SIGKILL");
  const { outcome, turn } = await run.outcome();
  expect(outcome).toBe("UNKNOWN");
  await waitUntil("the command has run", () => notes().length === 1, notes);
  await waitUntil("nothing is untold", () => first.rows("SELECT 1 FROM untold").length === 0);
  await stop(first);

  const store = await openStore(homePaths(home));
  await store.writer.execute(forgetTelling, turn.inputId);
  await store.close();
  const second = await serve(home);
  const watch = watchEvents(second, BigInt(store.epoch));
  const { event } = await watch.events.first("word", (one) => one.event?.$case === "unknownOutcome");
  expect(event).toMatchObject({ value: { turn: { inputId: turn.inputId, executionId } } });
  await waitUntil("the command has run again", () => notes().length === 2, notes);
  watch.stop();
  await stop(second);

  const third = await serve(home);
  expect(third.rows("SELECT 1 FROM untold")).toEqual([]);
  const again = watchEvents(third, BigInt(store.epoch));
  await third.client.run("echo", "!child !crash").outcome();
  expect(again.events.items.map((one) => one.event?.$case)).not.toContain("unknownOutcome");
  expect(notes()).toHaveLength(2);
  again.stop();
});
