import type { Clock } from "../../base/clock.js";
import type { Logger } from "../../base/logger.js";
import type { ProcessTable } from "../../base/processTable.js";
import type { AttachRequest, AttachResponse, Hello } from "../../gen/talaria/owner/v1/owner_service.js";
import { CloseReason, OwnerServiceService } from "../../gen/talaria/owner/v1/owner_service.js";
import type { CallContext } from "../../rpc/harness/callContext.js";
import type { ServiceImplementation } from "../../rpc/harness/implementService.js";
import { implementService } from "../../rpc/harness/implementService.js";
import type { BidiStream } from "../../rpc/harness/methods.js";
import { defineBidi } from "../../rpc/harness/methods.js";
import { reasonError, RpcError } from "../../rpc/rpcError.js";
import { recordProof } from "../../store/turns/recordProof.js";
import type { Writer } from "../../store/writer.js";
import { proveWorker } from "../identity/proveWorker.js";
import type { Launch } from "../launch/launch.js";
import type { LaunchTokens } from "../launch/launchTokens.js";
import { decodeAttachRequest, sizeOf } from "./attachRequests.js";
import { WorkerLink } from "./workerLink.js";

/** What the service works with. */
export interface OwnerServiceParts {
  readonly tokens: LaunchTokens;
  readonly table: ProcessTable;
  readonly clock: Clock;
  readonly writer: Writer;
  readonly log: Logger;
  /** The owner's own process id. */
  readonly ownPid: number;
  /** The owner's user id; undefined where there is none. */
  readonly ownUid: number | undefined;
}

/** Serves Attach: proves a worker, gives it to its launch and passes its frames on until either side ends. */
export function ownerService(parts: OwnerServiceParts): ServiceImplementation {
  return implementService(OwnerServiceService, {
    attach: defineBidi<AttachRequest, AttachResponse>({
      decode: decodeAttachRequest,
      handle: (stream, context) => serve(parts, stream, context),
    }),
  });
}

async function serve(
  parts: OwnerServiceParts,
  stream: BidiStream<AttachRequest, AttachResponse>,
  context: CallContext,
): Promise<void> {
  const frames = stream.requests[Symbol.asyncIterator]();
  const first = await frames.next();
  if (first.done === true) throw new RpcError("FRAME_INVALID", { message: "The stream ended before hello." });
  const link = await meet(parts, first.value, stream, context);
  context.log.info({ launch: link.launch.id, pid: link.evidence.process.pid }, "worker proved");
  let failure: RpcError | undefined;
  try {
    await passFrames(link, frames);
  } catch (caught) {
    failure = RpcError.from(caught);
    if (!context.signal.aborted) {
      context.log.warn({ launch: link.launch.id, reason: failure.reason, err: caught }, "worker stream refused");
      link.close(CloseReason.CLOSE_REASON_PROTOCOL, failure);
    }
    throw failure;
  } finally {
    link.end(failure);
  }
}

/** Hands frames on, one after another, until the worker has closed its half or the owner asks for the end. */
async function passFrames(link: WorkerLink, frames: AsyncIterator<AttachRequest>): Promise<void> {
  const pump = async (): Promise<void> => {
    for (let next = await frames.next(); next.done !== true; next = await frames.next()) {
      await link.receive(next.value, sizeOf(next.value));
    }
  };
  const pumped = pump();
  // After the owner's own end of the stream the pump fails with it, which says nothing more.
  pumped.catch(() => undefined);
  await Promise.race([pumped, link.closeRequested]);
}

async function meet(
  parts: OwnerServiceParts,
  first: AttachRequest,
  stream: BidiStream<AttachRequest, AttachResponse>,
  context: CallContext,
): Promise<WorkerLink> {
  const { frame } = first;
  if (frame?.$case !== "hello") {
    throw reasonError("FRAME_OUT_OF_PHASE", { frame: frame?.$case ?? "none", phase: "spawned" });
  }
  if (first.sequence !== 1n) throw new RpcError("FRAME_SEQUENCE");
  const launch = findLaunch(parts, frame.value, context);
  const verdict = proveWorker(
    {
      hello: frame.value,
      peer: context.connection.peer,
      launched: launch.process,
      ownPid: parts.ownPid,
      ownUid: parts.ownUid,
    },
    parts.table,
  );
  if (verdict.kind === "refused") {
    const error = new RpcError(verdict.reason);
    launch.fail(error);
    throw error;
  }
  const { process: worker, factors, launcherHops } = verdict;
  const { build, protocol } = frame.value;
  await parts.writer.execute(recordProof, {
    launchId: launch.id,
    workerPid: worker.pid,
    workerBirth: worker.birthTicks.toString(),
  });
  launch.group.note();
  const evidence = {
    process: worker,
    launched: launch.process,
    bootId: parts.table.bootId(),
    factors,
    launcherHops,
    uid: context.connection.peer?.uid,
    build: { name: build?.name ?? "", version: build?.version ?? "", runtime: build?.runtime ?? "" },
    protocol: { min: protocol?.min ?? 0, max: protocol?.max ?? 0 },
    provedAt: parts.clock.now(),
  };
  const link = new WorkerLink(launch, evidence, context.connection, stream);
  launch.attach(link);
  return link;
}

function findLaunch(parts: OwnerServiceParts, hello: Hello, context: CallContext): Launch {
  if (hello.token.length > 0) {
    const launch = parts.tokens.redeem(hello.token);
    if (launch === undefined) throw new RpcError("WORKER_TOKEN_INVALID");
    return launch;
  }
  const peer = context.connection.peer;
  const launch = peer === undefined ? undefined : parts.tokens.launchOf(peer.pid);
  launch?.fail(new RpcError("WORKER_LAUNCHER_DROPPED_STDIN"));
  throw new RpcError(launch === undefined ? "WORKER_NOT_LAUNCHED" : "WORKER_TOKEN_MISSING");
}
