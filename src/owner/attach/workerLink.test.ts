import { expect, test } from "vitest";

import type { AttachRequest, AttachResponse } from "../../gen/talaria/owner/v1/owner_service.js";
import { CloseReason } from "../../gen/talaria/owner/v1/owner_service.js";
import type { Connection } from "../../rpc/connection.js";
import type { BidiStream } from "../../rpc/harness/methods.js";
import { RpcError } from "../../rpc/rpcError.js";
import type { WorkerEvidence } from "../identity/workerEvidence.js";
import type { Launch } from "../launch/launch.js";
import { WorkerLink } from "./workerLink.js";

class Bench {
  readonly sent: AttachResponse[] = [];
  /** What a send throws. */
  broken: RpcError | undefined;
  readonly link = new WorkerLink(
    {} as Launch,
    {} as WorkerEvidence,
    {} as Connection,
    {
      sendNow: (frame: AttachResponse) => {
        if (this.broken !== undefined) throw this.broken;
        this.sent.push(frame);
        return true;
      },
    } as unknown as BidiStream<AttachRequest, AttachResponse>,
  );

  get kinds(): readonly (string | undefined)[] {
    return this.sent.map(({ frame }) => frame?.$case);
  }
}

const heartbeat = (sequence: bigint): AttachRequest => ({
  sequence,
  frame: { $case: "heartbeat", value: { loopDelayMs: 0, residentBytes: 0n, usage: undefined } },
});

test("frames are handed on in order; a heartbeat and every quarter of the bound are acknowledged", async () => {
  const bench = new Bench();
  const seen: string[] = [];
  bench.link.handle((frame) => void seen.push(frame.$case));
  await bench.link.receive({ sequence: 2n, frame: { $case: "finished", value: {} } }, 262_143);
  expect(bench.sent).toEqual([]);
  await bench.link.receive({ sequence: 3n, frame: { $case: "finished", value: {} } }, 1);
  await bench.link.receive(heartbeat(4n), 10);
  expect(seen).toEqual(["finished", "finished", "heartbeat"]);
  expect(bench.sent.map(({ frame }) => frame?.value)).toEqual([{ sequence: 3n }, { sequence: 4n }]);
});

test.each([1n, 3n, 0n])("OW-R29 a frame numbered %i after the first is refused", async (sequence) => {
  const bench = new Bench();
  bench.link.handle(() => undefined);
  await expect(bench.link.receive(heartbeat(sequence), 1)).rejects.toMatchObject({ reason: "FRAME_SEQUENCE" });
});

test("a frame that comes before anybody takes it waits; one that nobody will take is dropped", async () => {
  const bench = new Bench();
  const seen: string[] = [];
  const received = bench.link.receive(heartbeat(2n), 1);
  bench.link.handle((frame) => void seen.push(frame.$case));
  await received;
  expect(seen).toEqual(["heartbeat"]);
  const other = new Bench();
  const dropped = other.link.receive(heartbeat(2n), 1);
  other.link.end();
  await dropped;
  expect(other.sent).toEqual([]);
});

test("a frame for a stream that has just broken goes nowhere and throws into nobody's timer", async () => {
  const bench = new Bench();
  bench.broken = new RpcError("CANCELLED");
  bench.link.send({ $case: "finish", value: {} });
  bench.link.close(CloseReason.CLOSE_REASON_STOPPED);
  await bench.link.closeRequested;
  bench.broken = undefined;
  bench.link.send({ $case: "finish", value: {} });
  expect(bench.sent).toEqual([]);
});

test("a frame that is too large for the transport is its sender's fault", () => {
  const bench = new Bench();
  bench.broken = new RpcError("MESSAGE_TOO_LARGE");
  expect(() => bench.link.send({ $case: "finish", value: {} })).toThrow(RpcError);
});

test("the worker is told once why the stream ends", () => {
  const bench = new Bench();
  bench.link.close(CloseReason.CLOSE_REASON_PROTOCOL, new RpcError("FRAME_SEQUENCE"));
  bench.link.close(CloseReason.CLOSE_REASON_STOPPED);
  expect(bench.kinds).toEqual(["close"]);
});
