import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { type Clock, systemClock } from "../../src/base/clock.js";
import { DAY_MS, nameOfUtcDay, utcDay } from "../../src/base/utcDay.js";
import { AdminServiceService, ListUsageRequest } from "../../src/gen/talaria/gateway/v1/admin_service.js";
import { AgentServiceService } from "../../src/gen/talaria/gateway/v1/agent_service.js";
import { SessionServiceService } from "../../src/gen/talaria/gateway/v1/session_service.js";
import { DeliveryState } from "../../src/gen/talaria/dm/v1/delivery.js";
import { Reason } from "../../src/gen/talaria/reason/v1/reason.js";
import { PAUSE_LOOK_MS } from "../../src/gateway/usage/spendingGuard.js";
import { readStream } from "../../src/rpc/clients/readStream.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { RpcError } from "../../src/rpc/rpcError.js";
import { get, send } from "../dm/calls.js";
import type { AgentFile } from "../kit/homeFiles.js";
import { StreamLog } from "../kit/streamLog.js";
import { refusalOf, sessionOf } from "../kit/turnClient.js";
import { useTestGateway } from "../kit/useTestGateway.js";
import { waitFor } from "../kit/waitFor.js";

/** Real time, but for how far wall time is ahead, and for looks at pauses, which come all the time. */
let aheadMs = 0;
const clock: Clock = {
  now: () => systemClock.now() + aheadMs,
  monotonic: () => systemClock.monotonic(),
  after: (ms, run) => systemClock.after(ms <= PAUSE_LOOK_MS && ms > 30_000 ? 20 : ms, run),
};
const noon = (utcDay(systemClock.now()) + 0.5) * DAY_MS;
aheadMs = noon - systemClock.now();

const file = (budget: object): AgentFile => ({ runtime: "echo", budget });
const gateway = useTestGateway({ agents: { echo: file({ tokens_per_day: 100 }), free: { runtime: "echo" } }, clock });

const admin = () => gateway().client.client;
const requestId = () => `r-${String(performance.now())}`;
const usageOf = async (agent: string) => {
  const { usage } = await unaryCall(admin(), AdminServiceService.listUsage, ListUsageRequest.fromPartial({ agent }));
  return usage;
};
const today = () => nameOfUtcDay(utcDay(clock.now()));
const lift = (agent: string) => unaryCall(admin(), AdminServiceService.liftBudget, { requestId: requestId(), agent });
const paused = (agent: string) =>
  waitFor(`${agent} is paused`, async () => {
    const state = (await unaryCall(admin(), AgentServiceService.getAgent, { name: agent })).agent?.pause;
    return state === undefined ? { state } : { found: state };
  });

test("a budget pauses its agent: what runs ends, what is queued waits and runs once the day turns, new inputs are refused", async () => {
  const { client } = gateway();
  const events = new StreamLog<string>().follow(
    (async function* () {
      const watch = readStream(admin(), AdminServiceService.watchEvents, { cursor: undefined });
      for await (const { event } of watch) {
        if (event?.$case === "agentPaused") yield `${event.value.agent} ${String(event.value.failure?.reason)}`;
      }
    })(),
  );
  // A turn's children and the sessions that are deleted since count too.
  const known = { requestId: "known", target: { $case: "agent" as const, value: "echo" } };
  const first = client.request({ ...known, text: "!child !usage 30 10\n!usage 5 5" });
  expect(await first.outcome()).toMatchObject({ outcome: "COMPLETED" });
  expect(await usageOf("echo")).toMatchObject([
    { day: today(), turns: 2n, inputTokens: 35n, outputTokens: 15n, pause: undefined },
  ]);

  const running = client.run("echo", "!usage 60 0 0.5\n!approve something");
  const prompt = (await running.next("promptRaised")).promptId;
  const sessionId = await sessionOf(running);
  const behind = client.say(sessionId, "behind");
  await behind.next("inputQueued");
  await client.choose(prompt, 1);
  expect(await running.outcome()).toMatchObject({ outcome: "COMPLETED" });

  const failure = await paused("echo");
  expect(failure).toMatchObject({ reason: Reason.REASON_BUDGET_REACHED });
  expect(failure.resetsAt?.seconds).toBe(BigInt((utcDay(clock.now()) + 1) * (DAY_MS / 1_000)));
  const refused = await client.run("echo", "new").ended();
  if (!(refused instanceof RpcError)) throw new Error("there was no refusal", { cause: refused });
  expect(refused).toMatchObject({ reason: "BUDGET_REACHED", message: expect.stringContaining("110 of 100 tokens") });
  expect(refused.details.retryAfterMs).toBeGreaterThan(DAY_MS / 2 - 120_000);
  expect(refused.details.retryAfterMs).toBeLessThanOrEqual(DAY_MS / 2);
  expect(await refusalOf(client.say(sessionId, "new"))).toBe("BUDGET_REACHED");
  const replay = client.request({ ...known, text: "!child !usage 30 10\n!usage 5 5" });
  expect((await replay.next("inputQueued")).replayed).toBe(true);
  expect(await client.run("free", "!usage 1000 0").outcome()).toMatchObject({ outcome: "COMPLETED" });

  const { delivery } = await send(admin(), { target: "agent:echo", body: "a message" });
  const { problems } = await unaryCall(admin(), AdminServiceService.getStatus, {});
  expect(problems).toMatchObject([{ reason: Reason.REASON_BUDGET_REACHED, hint: expect.stringContaining("lift") }]);
  const before = await usageOf("echo");
  expect(before).toMatchObject([
    { turns: 3n, costUsd: 0.5, tokensPerDay: 100n, pause: { resetsAt: failure.resetsAt } },
  ]);
  const request = { requestId: requestId(), sessionId: await sessionOf(first) };
  await unaryCall(admin(), SessionServiceService.deleteSession, request);
  expect((await usageOf("echo"))[0]).toMatchObject({ turns: 3n, inputTokens: 95n });
  expect(describe(await stateOf(delivery.deliveryId))).toBe("QUEUED");
  expect(behind.kinds).toEqual(["inputQueued"]);

  aheadMs += DAY_MS / 2;
  expect(await behind.outcome()).toMatchObject({ answer: "behind" });
  await waitFor("the message is answered", async () => {
    const state = describe(await stateOf(delivery.deliveryId));
    return state === "REPLIED" ? { found: true } : { state };
  });
  expect(await usageOf("echo")).toMatchObject([
    { day: today(), turns: 2n, pause: undefined },
    { turns: 3n, pause: undefined },
  ]);
  expect(events.items).toEqual([`echo ${String(Reason.REASON_BUDGET_REACHED)}`]);
});

test("an operator's lift lets it go on for the day, a raised budget does once the files are read again", async () => {
  const { client, home } = gateway();
  const spend = client.run("echo", "!usage 100 0");
  expect(await spend.outcome()).toMatchObject({ outcome: "COMPLETED" });
  await paused("echo");
  const { delivery } = await send(admin(), { target: "agent:echo", body: "waits for a lift" });
  expect(describe(await stateOf(delivery.deliveryId))).toBe("QUEUED");
  const { usage } = await lift("echo");
  expect(usage).toMatchObject({ day: today(), liftedBy: expect.stringContaining("client:"), pause: undefined });
  await waitFor("the message is answered", async () => {
    const state = describe(await stateOf(delivery.deliveryId));
    return state === "REPLIED" ? { found: true } : { state };
  });
  expect(await client.run("echo", "!usage 500 0").outcome()).toMatchObject({ outcome: "COMPLETED" });
  expect(await client.run("echo", "goes on").outcome()).toMatchObject({ answer: "goes on" });
  expect(await refusalOf(lift("nobody"))).toBe("UNKNOWN_AGENT");

  aheadMs += DAY_MS;
  const write = (budget: object): void => {
    writeFileSync(join(home, "agents", "echo", "agent.yaml"), JSON.stringify(file(budget)));
  };
  const reload = () => unaryCall(admin(), AdminServiceService.reload, { requestId: requestId() });
  const held = client.run("echo", "!usage 50 0\n!approve this");
  const { promptId } = await held.next("promptRaised");
  const behind = client.say(await sessionOf(held), "behind");
  await behind.next("inputQueued");
  write({ tokens_per_day: 50 });
  expect(await reload()).toMatchObject({ changed: ["echo"] });
  await client.choose(promptId, 1);
  await held.outcome();
  await paused("echo");
  expect(behind.kinds).toEqual(["inputQueued"]);
  write({ tokens_per_day: 51 });
  await reload();
  expect(await behind.outcome()).toMatchObject({ answer: "behind" });
});

test("days are paged, and a day that is none is refused", async () => {
  const request = ListUsageRequest.fromPartial({ pageSize: 1 });
  const first = await unaryCall(admin(), AdminServiceService.listUsage, request);
  const second = await unaryCall(admin(), AdminServiceService.listUsage, {
    ...request,
    pageToken: first.nextPageToken,
  });
  expect(first.usage).toHaveLength(1);
  expect(second.usage).toHaveLength(1);
  expect(second.usage[0]?.day).not.toBe(first.usage[0]?.day);
  const refused = unaryCall(admin(), AdminServiceService.listUsage, { ...request, sinceDay: "yesterday" });
  expect(await refusalOf(refused)).toBe("INVALID_FIELD");
});

async function stateOf(deliveryId: string): Promise<DeliveryState | undefined> {
  return (await get(admin(), deliveryId)).state;
}

function describe(state: DeliveryState | undefined): string {
  const [name = "?"] = Object.entries(DeliveryState).find(([, number]) => number === state) ?? [];
  return name.replace("DELIVERY_STATE_", "");
}
