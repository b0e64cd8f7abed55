import { expect, test } from "vitest";

import { FakeClock } from "../base/testing/fakeClock.js";
import { seededRandom } from "../base/testing/seededRandom.js";
import type { ModelCalled } from "../gen/talaria/owner/v1/owner_service.js";
import { reasonNumber } from "../rpc/reasonNumber.js";
import { parseTraceparent } from "../rpc/traceContext.js";
import { toTimestamp } from "../rpc/wire/times.js";
import type { WorkerFrame } from "./frameSender.js";
import { createModelCallReports } from "./modelCallReport.js";

const TURN = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const ASKED = { provider: "local", host: "127.0.0.1:1", model: "m".repeat(200) };

function reports(traceWork: boolean, send: (frame: WorkerFrame) => Promise<void>) {
  const clock = new FakeClock();
  const bootstrap = { trace: { traceparent: TURN, tracestate: "" }, traceWork };
  return { clock, begin: createModelCallReports({ bootstrap, session: { send }, clock, random: seededRandom(1) }) };
}

test("a request is told when it has ended, under the span that its endpoint was told", () => {
  const told: ModelCalled[] = [];
  const { clock, begin } = reports(true, (frame) => {
    if (frame.$case === "modelCalled") told.push(frame.value);
    return Promise.resolve();
  });
  const startedAt = clock.now();
  const report = begin(ASKED);
  clock.advance(40);
  report.end({ kind: "answered", servedModel: "s", inputTokens: 7, outputTokens: Number.NaN, finishReason: "length" });
  begin(ASKED).end({ kind: "failed", reason: "PROVIDER_QUOTA" });
  const at = parseTraceparent(report.traceparent ?? "");
  expect(at?.traceId).toBe(parseTraceparent(TURN)?.traceId);
  expect(told).toMatchObject([
    {
      spanId: at?.spanId,
      startedAt: toTimestamp(startedAt),
      endedAt: toTimestamp(startedAt + 40),
      model: "m".repeat(128),
      servedModel: "s",
      inputTokens: 7n,
      outputTokens: 0n,
      finishReason: "length",
      failure: 0,
    },
    { failure: reasonNumber("PROVIDER_QUOTA"), finishReason: "" },
  ]);
});

test("a stream that has ended fails no turn", async () => {
  const { begin } = reports(true, () => Promise.reject(new Error("gone")));
  begin(ASKED).end({ kind: "failed", reason: "TURN_STOPPED" });
  await new Promise<void>((resolve) => setImmediate(resolve));
});

test("nothing is told, and no header sent, where the owner does not trace the turn", () => {
  const { begin } = reports(false, () => Promise.reject(new Error("must not be sent")));
  const report = begin(ASKED);
  report.end({ kind: "failed", reason: "TURN_STOPPED" });
  expect(report.traceparent).toBeUndefined();
});
