import { onTestFinished, expect, test } from "vitest";

import { AdminService, connectTalaria, type Talaria, TurnOutcome, type TurnStep } from "../../src/client/index.js";
import { serve, type Served, temporaryHome } from "./useTalaria.js";

const refused = (reason: string): Error => expect.objectContaining({ reason }) as Error;

function clientOf({ info }: Served): Talaria {
  const talaria = connectTalaria({
    address: info.addresses["clientSocket"] ?? "",
    retry: { attempts: 60, longestMs: 500 },
  });
  onTestFinished(() => {
    talaria.close();
  });
  return talaria;
}

/** Kills a gateway and serves its home again. */
async function again(served: Served): Promise<Served> {
  served.signal("SIGKILL");
  await served.ended;
  return serve(served.home);
}

test("a turn, a message, and why they fail, in typed steps and errors", async () => {
  const talaria = clientOf(await serve());
  const steps: TurnStep[] = [];
  for await (const step of talaria.runTurn({ agent: "main", text: "!tool clock {} => noon\nHello there" }))
    steps.push(step);
  expect(
    steps.map(({ kind }) => kind).filter((kind, index, all) => kind !== "phase" && kind !== all[index - 1]),
  ).toEqual(expect.arrayContaining(["queued", "started", "toolStarted", "toolCompleted", "text", "ended"]));
  const text = steps.map((step) => (step.kind === "text" ? step.text : "")).join("");
  expect(text).toContain("Hello there");

  await expect(talaria.ask({ agent: "main", text: "!fail PROVIDER_QUOTA No more." })).rejects.toThrow(
    refused("PROVIDER_QUOTA"),
  );
  await expect(talaria.ask({ agent: "nobody", text: "Hello" })).rejects.toThrow(refused("UNKNOWN_AGENT"));
  const { deliveryId } = await talaria.sendMessage({ target: "main", body: "Ping" });
  expect((await talaria.waitForReply(deliveryId)).reply?.text).toBe("Ping");
  const failing = await talaria.sendMessage({ target: "main", body: "!fail PROVIDER_AUTH No." });
  await expect(talaria.waitForReply(failing.deliveryId)).rejects.toThrow();
  const names: string[] = [];
  for await (const { name } of talaria.agents()) names.push(name);
  expect(names).toEqual(["main"]);
});

test("a signal ends the stream and not the turn; its key replays it", async () => {
  const talaria = clientOf(await serve());
  const leave = new AbortController();
  const input = { agent: "main", text: "Begin\n!sleep 1500\nEnd", requestId: "key-1" };
  const reading = (async () => {
    for await (const step of talaria.runTurn(input, { signal: leave.signal })) if (step.kind === "text") leave.abort();
  })();
  await expect(reading).rejects.toThrow(refused("CANCELLED"));
  const turn = await talaria.ask(input);
  expect(turn.outcome).toBe(TurnOutcome.TURN_OUTCOME_COMPLETED);
  const status = await talaria.call(AdminService.getStatus, {});
  expect(status.turns?.admitted).toBe(1n);
});

test("over the death and the restart of a gateway a watch goes on, a call is repeated, and a turn ends once", async () => {
  const first = await serve(temporaryHome());
  const talaria = clientOf(first);
  const { sessionId } = await talaria.ask({ agent: "main", text: "One" });
  const seen: string[] = [];
  const leave = new AbortController();
  let cameBack = (): void => undefined;
  const back = new Promise<void>((resolve) => (cameBack = resolve));
  let snapshots = 0;
  const watching = (async () => {
    for await (const { update } of talaria.watchSession(sessionId, { signal: leave.signal })) {
      if (update?.$case === "snapshot") snapshots += 1;
      if (snapshots === 2) cameBack();
      if (update?.$case === "turnEnded") seen.push(update.value.turn?.text ?? "");
      if (seen.includes("Three")) return;
    }
  })();
  await talaria.ask({ sessionId, text: "Two" });

  let began = (): void => undefined;
  const running = new Promise<void>((resolve) => (began = resolve));
  const outcomes: TurnOutcome[] = [];
  const lost = (async () => {
    for await (const step of talaria.runTurn({ agent: "main", text: "Begin\n!sleep 60000" })) {
      if (step.kind === "text") began();
      if (step.kind === "ended") outcomes.push(step.turn.outcome);
    }
  })();
  await running;
  const second = again(first);
  // Made while nothing listens: repeated until something does.
  const asked = talaria.call(AdminService.getStatus, {});
  const { epoch } = (await second).info;
  expect((await asked).epoch).toBe(BigInt(epoch));
  await lost;
  expect(outcomes).toHaveLength(1);
  expect(outcomes[0]).not.toBe(TurnOutcome.TURN_OUTCOME_COMPLETED);

  // What ends before the watch is back is in its snapshot, not among its changes.
  await back;
  await talaria.ask({ sessionId, text: "Three" });
  await watching;
  expect(seen.filter((text) => text === "Three")).toHaveLength(1);
  leave.abort();
}, 60_000);
