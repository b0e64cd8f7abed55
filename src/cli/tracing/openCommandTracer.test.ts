import { expect, test } from "vitest";

import { FakeClock } from "../../base/testing/fakeClock.js";
import { seededRandom } from "../../base/testing/seededRandom.js";
import type { SpanExportOptions } from "../../rpc/tracing/spanExport.js";
import { LAST_SPANS_MS, openCommandTracer } from "./openCommandTracer.js";

const collector = { endpoint: "http://user:pass@collector:4318/v1/traces", sampleRatio: 1 };
const SETTINGS = { parent: undefined, service: "talaria", collector };

function parts() {
  const said: string[] = [];
  return { said, clock: new FakeClock(), random: seededRandom(1), say: (line: string) => void said.push(line) };
}

test("nothing is loaded where nothing is told", async () => {
  const load = () => Promise.reject(new Error("must not be loaded"));
  const { tracer, close } = await openCommandTracer({ ...SETTINGS, collector: undefined }, parts(), load);
  expect(tracer.enabled).toBe(false);
  await close();
});

test("packages that are not installed are said, and keep no command from its work", async () => {
  const missing = Object.assign(new Error("Cannot find package"), { code: "MODULE_NOT_FOUND" });
  const given = parts();
  const { tracer } = await openCommandTracer(SETTINGS, given, () => Promise.reject(missing));
  expect(tracer.enabled).toBe(false);
  expect(given.said).toEqual([expect.stringContaining("not installed")]);
  const broken = new Error("syntax");
  await expect(openCommandTracer(SETTINGS, parts(), () => Promise.reject(broken))).rejects.toBe(broken);
});

test("a collector that takes nothing is named without its secrets, and waited for a second at most", async () => {
  const given = parts();
  let opened: SpanExportOptions | undefined;
  const load = () =>
    Promise.resolve({
      openSpanExport(options: SpanExportOptions) {
        opened = options;
        const counts = () => ({ exported: 0, failed: 0, dropped: 0 });
        return { take: () => undefined, counts, close: () => new Promise<void>(() => undefined) };
      },
      spanExportTo: () => {
        throw new Error("is not used");
      },
    });
  const { close } = await openCommandTracer(SETTINGS, given, load);
  opened?.onFailure(new Error("connect ECONNREFUSED"));
  expect(given.said).toEqual(["The collector at collector:4318 does not take spans: connect ECONNREFUSED"]);
  let closed = false;
  const closing = close().then(() => {
    closed = true;
  });
  await given.clock.advanceAsync(LAST_SPANS_MS - 1);
  expect(closed).toBe(false);
  await given.clock.advanceAsync(1);
  await closing;
  expect(given.clock.pending).toBe(0);
});
