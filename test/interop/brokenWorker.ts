// A small worker that keeps the contract but for the one rule that its argument names: for the tests of the conformance kit.
import { readFileSync } from "node:fs";
import { systemClock } from "../../src/base/clock.js";
import { createDeferred } from "../../src/base/deferred.js";
import { ExecutionStoreServiceService as Store } from "../../src/gen/talaria/owner/v1/execution_store_service.js";
import {
  AttachRequest,
  type Bootstrap,
  Hello,
  OwnerServiceService,
} from "../../src/gen/talaria/owner/v1/owner_service.js";
import { TurnResult } from "../../src/gen/talaria/types/v1/result.js";
import { connectClient } from "../../src/rpc/clients/connectClient.js";
import { openBidi } from "../../src/rpc/clients/openBidi.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";

const [fault = "none"] = process.argv.slice(2);
const broken = (name: string): boolean => fault === name;

const pipe = createDeferred<string>();
let line = "";
process.stdin.setEncoding("latin1").on("data", (text: string) => {
  line += text;
  if (line.includes("\n")) pipe.resolve(line.trim());
});
process.stdin.on("end", () => {
  pipe.resolve("");
  orphaned();
});
const token = await pipe.promise;
if (token === "") process.exit(71);
if (broken("prints the token")) console.log(token);

const address = `unix:${process.env["TALARIA_OWNER_SOCKET"] ?? ""}`;
const client = await connectClient({
  address,
  purpose: "unixStream",
  ownConnection: true,
  timeoutMs: 10_000,
  clock: systemClock,
});
const call = openBidi(client, OwnerServiceService.attach);
let sequence = 0n;
let unacknowledged: { sequence: bigint; bytes: number }[] = [];
let ended = false;
let stopped = false;
let wake = createDeferred<void>();

function changed(): void {
  wake.resolve();
  wake = createDeferred();
}

function send(frame: NonNullable<AttachRequest["frame"]>): void {
  sequence += broken("skips a sequence") && sequence === 1n ? 2n : 1n;
  const request = { sequence, frame };
  unacknowledged.push({ sequence, bytes: AttachRequest.encode(request).finish().length });
  call.sendNow(request);
}

function say(text: string, channel: 1 | 2 = 1): void {
  send({ $case: "events", value: { events: [{ event: { $case: "delta", value: { text, channel } } }] } });
}

function orphaned(): void {
  if (ended || broken("outlives its owner")) return;
  process.exit(74);
}

function beat(everyMs: number): void {
  systemClock.after(everyMs, () => {
    if (ended) return;
    if (!broken("sends no heartbeats"))
      send({ $case: "heartbeat", value: { loopDelayMs: 0, residentBytes: 0n, usage: undefined } });
    beat(everyMs);
  });
}

const birth = BigInt(readFileSync("/proc/self/stat", "latin1").split(") ")[1]?.split(" ")[19] ?? "0");
const hello = { token: Buffer.from(token, "base64url"), process: { pid: process.pid, birth, bootId: "" } };
send({
  $case: "hello",
  value: Hello.fromPartial({
    ...hello,
    ...(broken("makes up a token") ? { token: Buffer.alloc(32) } : {}),
    build: { name: "broken", version: "1", runtime: "node" },
    protocol: { min: 1, max: 1 },
  }),
});
const finish = createDeferred<void>();
void call.ended.then(orphaned);
// Left running, so that it has something to live for without its owner.
systemClock.after(60_000, () => process.exit(75));

process.on("uncaughtException", orphaned);
try {
  for await (const { frame } of call.responses) {
    if (frame?.$case === "ack") {
      unacknowledged = unacknowledged.filter((one) => one.sequence > frame.value.sequence);
      changed();
    } else if (frame?.$case === "stop") {
      stopped = !broken("is deaf to stop");
      changed();
    } else if (frame?.$case === "finish") finish.resolve();
    else if (frame?.$case === "bootstrap") void turn(frame.value);
  }
} catch {
  orphaned();
}

async function turn(boot: Bootstrap): Promise<void> {
  const fence = { executionId: boot.executionId, epoch: boot.epoch, generation: boot.generation };
  if (broken("speaks before ready")) say("early");
  await unaryCall(client, Store.adopt, { fence, assignmentSecret: boot.assignmentSecret, pid: process.pid });
  beat(Number(boot.budgets?.heartbeat?.seconds ?? 0n) * 1_000 + (boot.budgets?.heartbeat?.nanos ?? 0) / 1e6);
  send({ $case: "ready", value: { pid: process.pid, model: "" } });
  const text = boot.input?.text ?? "";
  const bound = Number(boot.budgets?.outstandingBytes ?? 0n) || 1_048_576;
  if (text.startsWith("!sleep")) while (!stopped) await wake.promise;
  else if (text.startsWith("!flood")) {
    for (let sent = 0; sent < 2_000 && !stopped; sent++) {
      const used = (): number => unacknowledged.reduce((sum, { bytes }) => sum + bytes, 0);
      while (!broken("takes no notice of credit") && used() + 1_100 > bound - 8_192) await wake.promise;
      say("x".repeat(1_024), 2);
    }
  } else say(broken("streams another answer") ? "something else" : text);
  const finalResponse = text.startsWith("!") ? "" : text;
  send({
    $case: "result",
    value: { result: TurnResult.fromPartial({ finalResponse, completed: !stopped, interrupted: stopped }) },
  });
  const end = (): Promise<unknown> => unaryCall(client, Store.finishExecution, { fence, lastSequence: 0n });
  if (broken("ends before finish")) await end();
  await finish.promise;
  if (!broken("ends before finish")) await end();
  ended = true;
  send({ $case: "finished", value: {} });
  call.end();
  await call.ended;
  process.exit(broken("exits with 3") ? 3 : 0);
}
