import { mkdtempSync, readFileSync, rmSync, watch, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";

import { systemClock } from "../../base/clock.js";
import { silentLogger } from "../../base/logger.js";
import { FakeClock } from "../../base/testing/fakeClock.js";
import { createNotifier, type Notification } from "./notifier.js";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "talaria-notify-"));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const unknown = (inputId: string): Notification => ({
  kind: "unknown_outcome",
  inputId,
  sessionId: "ses_1",
  agent: "main",
});

/** Resolves when the file has so many lines. */
async function lines(path: string, count: number): Promise<string[]> {
  writeFileSync(path, "", { flag: "a" });
  const read = (): string[] => readFileSync(path, "utf8").split("\n").filter(Boolean);
  if (read().length >= count) return read();
  return new Promise((resolve, reject) => {
    const deadline = setTimeout(() => {
      reject(new Error(`only ${JSON.stringify(read())}`));
    }, 10_000);
    const watcher = watch(path, () => {
      if (read().length < count) return;
      clearTimeout(deadline);
      watcher.close();
      resolve(read());
    });
  });
}

function notifierOf(script: string, clock = systemClock) {
  const log = silentLogger();
  return createNotifier({
    command: ["/bin/sh", "-c", script],
    environment: { PATH: process.env["PATH"], SECRET_TOKEN: "do not pass on" },
    clock,
    log,
  });
}

test("the command runs once for each notification, in order, and reads it as one line of JSON", async () => {
  const out = join(folder, "out");
  const notifier = notifierOf(`cat >> ${out}`);
  notifier.notify(unknown("inp_1"));
  notifier.notify(unknown("inp_2"));
  const written = (await lines(out, 2)).map((line) => JSON.parse(line) as Notification);
  await notifier.close();
  expect(written).toEqual([unknown("inp_1"), unknown("inp_2")]);
});

test("a command that fails does not keep the next one from running, and sees no secret of the gateway", async () => {
  const out = join(folder, "out");
  const notifier = notifierOf(`echo "token=$SECRET_TOKEN" >> ${out}; exit 3`);
  notifier.notify(unknown("inp_1"));
  notifier.notify(unknown("inp_2"));
  expect(await lines(out, 2)).toEqual(["token=", "token="]);
  await notifier.close();
});

test("a command that hangs is killed at its limit", async () => {
  const out = join(folder, "out");
  const clock = new FakeClock();
  const notifier = notifierOf(`echo started >> ${out}; exec sleep 1000`, clock);
  notifier.notify(unknown("inp_1"));
  notifier.notify(unknown("inp_2"));
  await lines(out, 1);
  clock.advance(30_000);
  expect(await lines(out, 2)).toEqual(["started", "started"]);
  await notifier.close();
});

test("without a command nothing runs", async () => {
  const notifier = createNotifier({ command: undefined, environment: {}, clock: systemClock, log: silentLogger() });
  notifier.notify(unknown("inp_1"));
  await notifier.close();
});

test("what is claimed elsewhere, or cannot be claimed, is not run, and what waits at the end is not claimed", async () => {
  const out = join(folder, "out");
  const notifier = notifierOf(`cat >> ${out}`);
  const claimed: string[] = [];
  const claim = (inputId: string, answer: () => Promise<boolean>) => () => {
    claimed.push(inputId);
    return answer();
  };
  notifier.notify(
    unknown("inp_1"),
    claim("inp_1", () => Promise.resolve(false)),
  );
  notifier.notify(
    unknown("inp_2"),
    claim("inp_2", () => Promise.reject(new Error("the store is closed"))),
  );
  notifier.notify(
    unknown("inp_3"),
    claim("inp_3", () => Promise.resolve(true)),
  );
  expect((await lines(out, 1)).map((line) => (JSON.parse(line) as { inputId: string }).inputId)).toEqual(["inp_3"]);
  await notifier.close();
  expect(claimed).toEqual(["inp_1", "inp_2", "inp_3"]);

  const hanging = notifierOf(`echo begun >> ${out}.2; sleep 60`);
  hanging.notify(unknown("inp_4"));
  hanging.notify(
    unknown("inp_5"),
    claim("inp_5", () => Promise.resolve(true)),
  );
  await lines(`${out}.2`, 1);
  await hanging.close();
  expect(claimed).not.toContain("inp_5");
});

test("without a command a notification is claimed, so that none waits for a command that comes later", async () => {
  const notifier = createNotifier({ command: undefined, environment: {}, clock: systemClock, log: silentLogger() });
  const claimed = new Promise<void>((resolve) => {
    notifier.notify(unknown("inp_1"), () => {
      resolve();
      return Promise.resolve(true);
    });
  });
  await claimed;
  await notifier.close();
});
