import { afterAll, expect, test } from "vitest";

import { Hello, OwnerServiceService } from "../../src/gen/talaria/owner/v1/owner_service.js";
import { ExecutionStoreServiceService } from "../../src/gen/talaria/owner/v1/execution_store_service.js";
import { isAlive, readProcess } from "../../src/base/processTable.js";
import { createClient } from "../../src/rpc/clients/connectClient.js";
import { openBidi } from "../../src/rpc/clients/openBidi.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { refusalOf, type UpdateLog } from "../kit/turnClient.js";
import type { ForeignWorker } from "../kit/foreignWorkers.js";
import { useForeignWorkers } from "../kit/useForeignWorkers.js";
import { useTestGateway } from "../kit/useTestGateway.js";
import { waitUntil } from "../kit/waitFor.js";

const workers = useForeignWorkers();
const [node = "", relay = "", path = ""] = workers.command;
const nodeLauncher =
  "const { spawnSync } = require('node:child_process'); process.exit(spawnSync(process.argv[1], process.argv.slice(2), { stdio: 'inherit' }).status)";
const command = (...words: readonly string[]) => ({ runtime: "command", worker: { command: words } });
const deep = 'n="$1"; shift; if [ "$n" -gt 0 ]; then sh -c "$SELF" sh $((n - 1)) "$@"; else "$@"; fi; exit $?';
const gateway = useTestGateway({
  budgets: { helloMs: 3_000 },
  agents: {
    foreign: command(node, relay, path),
    shell: command("sh", "-c", '"$0" "$@"; exit $?', node, relay, path),
    node: command(node, "-e", nodeLauncher, node, relay, path),
    distant: {
      runtime: "command",
      worker: { command: ["sh", "-c", deep, "sh", "4", node, relay, path], env: { SELF: deep } },
    },
  },
});
const clients: { close(): void }[] = [];
afterAll(() => {
  for (const client of clients) client.close();
});

async function begin(agent = "foreign"): Promise<{ readonly run: UpdateLog; readonly worker: ForeignWorker }> {
  const run = gateway().client.run(agent, "hello");
  const worker = await workers.next();
  await worker.connected();
  return { run, worker };
}

/** This process in the place of a stranger, with a connection of its own to the owner. */
function stranger() {
  const address = `unix:${gateway().context.paths.ownerSocket}`;
  const client = createClient({ address, purpose: "unixStream", ownConnection: true });
  clients.push(client);
  return client;
}

async function helloOf(hello: Parameters<typeof Hello.fromPartial>[0]): Promise<string | undefined> {
  const call = openBidi(stranger(), OwnerServiceService.attach);
  call.sendNow({ sequence: 1n, frame: { $case: "hello", value: Hello.fromPartial(hello) } });
  return (await call.ended)?.reason;
}

const rowsOf = (table: string): number => gateway().rows(`SELECT 1 FROM ${table}`).length;
const rowCount = (): number =>
  ["launches", "executions", "inputs", "sessions"].reduce((sum, table) => sum + rowsOf(table), 0);
const own = { pid: process.pid, birth: readProcess(process.pid)?.birthTicks ?? 0n, bootId: "" };

test("OW01 OW04 F3 a stranger on the owner socket is refused and leaves no row", async () => {
  const before = rowCount();
  expect(await helloOf({ process: own, protocol: { min: 1, max: 1 } })).toBe("WORKER_NOT_LAUNCHED");
  expect(await helloOf({ process: own, token: Buffer.alloc(32, 1) })).toBe("WORKER_TOKEN_INVALID");
  const fence = { executionId: `exe_${"0".repeat(26)}`, epoch: 1n, generation: 1n };
  const { adopt, persist, finishExecution } = ExecutionStoreServiceService;
  const at = stranger();
  expect(await refusalOf(unaryCall(at, adopt, { fence, assignmentSecret: Buffer.alloc(32), pid: own.pid }))).toBe(
    "UNKNOWN_EXECUTION",
  );
  expect(await refusalOf(unaryCall(at, persist, { fence, sequence: 1n, operation: undefined }))).toBe(
    "PERMISSION_DENIED",
  );
  expect(await refusalOf(unaryCall(at, finishExecution, { fence, lastSequence: 0n }))).toBe("PERMISSION_DENIED");
  expect(rowCount()).toBe(before);
});

test("OW01 F3 a stranger with a stolen token is not believed: the kernel names another process", async () => {
  const { run, worker } = await begin();
  const { pid, birth, token } = worker.launched;
  expect(await helloOf({ token, process: { pid, birth, bootId: "" }, protocol: { min: 1, max: 1 } })).toBe(
    "WORKER_PID_MISMATCH",
  );
  expect(await run.outcome()).toMatchObject({ outcome: "FAILED", reason: "WORKER_PID_MISMATCH" });
});

test("a token works once", async () => {
  const { run, worker } = await begin();
  await worker.bootstrapped();
  const again = openBidi(worker.connectAgain(), OwnerServiceService.attach);
  const { pid, birth, token } = worker.launched;
  const hello = Hello.fromPartial({ token, process: { pid, birth }, protocol: { min: 1, max: 1 } });
  again.sendNow({ sequence: 1n, frame: { $case: "hello", value: hello } });
  expect((await again.ended)?.reason).toBe("WORKER_TOKEN_INVALID");
  await worker.adopt();
  worker.ready();
  worker.result({ finalResponse: "first" });
  expect((await run.outcome()).answer).toBe("first");
});

const lies: readonly [string, (worker: ForeignWorker) => Parameters<typeof Hello.fromPartial>[0], string][] = [
  [
    "a birth that is not its own",
    ({ launched }) => ({ process: { pid: launched.pid, birth: launched.birth + 1n } }),
    "WORKER_BIRTH_MISMATCH",
  ],
  ["the owner's pid", () => ({ process: own }), "WORKER_SELF"],
  ["pid 1", () => ({ process: { pid: 1, birth: 0n } }), "WORKER_PID_MISMATCH"],
  ["a pid that nobody has", () => ({ process: { pid: 2 ** 22 + 1, birth: 1n } }), "WORKER_NOT_LIVE"],
  ["no process", () => ({ process: undefined }), "WORKER_PID_MISMATCH"],
  ["a protocol of the future", () => ({ protocol: { min: 9, max: 9 } }), "WORKER_PROTOCOL_UNSUPPORTED"],
];
test.each(lies)(
  "OW02 OW03 OW04 F3 F4 F5 a worker that names %s is refused, and the turn says why",
  async (_name, lie, reason) => {
    const { run, worker } = await begin();
    worker.open();
    worker.hello(lie(worker));
    const ended = await run.outcome();
    expect(ended).toMatchObject({ outcome: "FAILED", reason });
    const { executionId } = ended.turn;
    expect(gateway().rows("SELECT launch_id, evidence FROM executions WHERE execution_id = ?", executionId)).toEqual([
      { launch_id: null, evidence: null },
    ]);
    expect(worker.frames.items.map(({ frame }) => frame?.$case)).not.toContain("bootstrap");
  },
);

test.each(["shell", "node"])(
  "OW05 OW06 OW07 OW11 OW-R18 F6 a worker behind a %s launcher is proved by its own pid, and both leave",
  async (agent) => {
    const launches = rowsOf("launches");
    const { run, worker } = await begin(agent);
    await worker.running();
    worker.result({ finalResponse: "through" });
    await worker.leave();
    const { turn, answer } = await run.outcome();
    expect(answer).toBe("through");
    expect(rowsOf("launches")).toBe(launches + 1);
    const [row] = gateway().rows<{ evidence: string; session_id: string; pid: number; worker_pid: number }>(
      "SELECT evidence, session_id, pid, worker_pid FROM executions JOIN launches USING (launch_id) WHERE execution_id = ?",
      turn.executionId,
    );
    expect(row).toMatchObject({ session_id: turn.sessionId, worker_pid: worker.launched.pid });
    expect(row?.pid).not.toBe(row?.worker_pid);
    for (const pid of [row?.pid ?? 0, row?.worker_pid ?? 0]) {
      await waitUntil(`${String(pid)} is gone`, () => !isAlive(readProcess(pid)));
    }
    expect(JSON.parse(row?.evidence ?? "")).toMatchObject({
      launcherHops: 1,
      process: { pid: worker.launched.pid },
      factors: ["token", "peer_credentials", "process_table", "ancestry"],
      build: { name: "foreign" },
    });
  },
);

test("F3 a worker more than three hops from its launch is refused", async () => {
  const { run, worker } = await begin("distant");
  worker.open();
  worker.hello();
  expect(await run.outcome()).toMatchObject({ outcome: "FAILED", reason: "WORKER_NOT_LAUNCHED" });
});
