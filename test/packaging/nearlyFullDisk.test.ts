import type { Client } from "@grpc/grpc-js";
import { createHash } from "node:crypto";
import { readdirSync, rmSync } from "node:fs";
import { onTestFinished, expect, test } from "vitest";

import { type Clock, systemClock } from "../../src/base/clock.js";
import { homePaths } from "../../src/base/home.js";
import { AdminServiceService } from "../../src/gen/talaria/gateway/v1/admin_service.js";
import { CreateSessionRequest, SessionServiceService } from "../../src/gen/talaria/gateway/v1/session_service.js";
import { TurnServiceService, type UploadAttachmentRequest } from "../../src/gen/talaria/gateway/v1/turn_service.js";
import { Reason } from "../../src/gen/talaria/reason/v1/reason.js";
import { sendStream } from "../../src/rpc/clients/sendStream.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { createServeRooms } from "../../src/gateway/createServeRooms.js";
import type { DiskUse } from "../../src/base/diskUse.js";
import { DISK_LOOK_MS } from "../../src/gateway/storage/storageGuard.js";
import { send } from "../dm/calls.js";
import { useGateway } from "../gateway/useGateway.js";
import { writeHome } from "../kit/homeFiles.js";
import { refusalOf, sessionOf, TurnClient } from "../kit/turnClient.js";
import { waitFor } from "../kit/waitFor.js";

/** A clock by which the disk is looked at all the time. */
const clock: Clock = {
  ...systemClock,
  after: (ms, run) => systemClock.after(ms === DISK_LOOK_MS ? 10 : ms, run),
};

function upload(client: Client, content: Buffer, requestId: string) {
  const header = {
    requestId,
    mediaType: "image/png",
    sizeBytes: BigInt(content.length),
    sha256: createHash("sha256").update(content).digest(),
  };
  async function* steps(): AsyncGenerator<UploadAttachmentRequest> {
    yield { step: { $case: "header", value: header } };
    yield { step: { $case: "chunk", value: content } };
  }
  return sendStream(client, TurnServiceService.uploadAttachment, steps());
}

function createSession(client: Client, request: Parameters<typeof CreateSessionRequest.fromPartial>[0]) {
  return unaryCall(client, SessionServiceService.createSession, CreateSessionRequest.fromPartial(request));
}

test("on a disk that is nearly full nothing new is taken, running work ends, replays are answered, and status says so", async () => {
  const home = writeHome();
  onTestFinished(() => {
    rmSync(home, { recursive: true, force: true });
  });
  let use: DiskUse = { usedBytes: 1, freeBytes: 99 };
  const { gateway, client } = await useGateway({
    home,
    clock,
    logDestination: { write: () => undefined },
    measureDisk: () => Promise.resolve(use),
    rooms: createServeRooms,
  });
  const turns = new TurnClient(gateway.addresses.clientSocket);
  onTestFinished(() => {
    turns.close();
  });
  const problems = async () => (await unaryCall(client, AdminServiceService.getStatus, {})).problems;

  const running = turns.run("echo", "!approve something");
  const prompt = (await running.next("promptRaised")).promptId;
  const known = { requestId: "known", target: "agent:echo", body: "hello", onBehalfOf: "" };
  const { delivery } = await send(client, known);
  const png = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.alloc(100, 7)]);
  const { attachment } = await upload(client, png, "known-file");
  const knownSession = { requestId: "known-session", agent: "echo" };
  const { session } = await createSession(client, knownSession);
  expect(await problems()).toEqual([]);

  use = { usedBytes: 96, freeBytes: 4 };
  const [problem] = await waitFor("status names the disk", async () => {
    const found = await problems();
    return found.length > 0 ? { found } : { state: found };
  });
  expect(problem).toMatchObject({ reason: Reason.REASON_STORAGE_FULL, retryable: true });
  expect(problem?.message).toContain("96 %");
  expect(problem?.hint).toContain("Free space");

  expect(await refusalOf(turns.run("echo", "new"))).toBe("STORAGE_FULL");
  expect(await refusalOf(turns.say(await sessionOf(running), "new"))).toBe("STORAGE_FULL");
  expect(await refusalOf(send(client, { target: "agent:echo", body: "another" }))).toBe("STORAGE_FULL");
  expect(await send(client, known)).toMatchObject({ replayed: true, delivery: { deliveryId: delivery.deliveryId } });
  expect(await refusalOf(upload(client, Buffer.concat([png, png]), "new-file"))).toBe("STORAGE_FULL");
  expect((await upload(client, png, "known-file")).attachment?.attachmentId).toBe(attachment?.attachmentId);
  expect(readdirSync(homePaths(home).attachmentsDir)).toHaveLength(1);
  expect(await refusalOf(createSession(client, { ...knownSession, requestId: "new-session" }))).toBe("STORAGE_FULL");
  expect((await createSession(client, knownSession)).session?.sessionId).toBe(session?.sessionId);
  await turns.choose(prompt, 1);
  expect(await running.outcome()).toMatchObject({ outcome: "COMPLETED" });

  use = { usedBytes: 50, freeBytes: 50 };
  await waitFor("status is well again", async () => {
    const state = await problems();
    return state.length === 0 ? { found: true } : { state };
  });
  expect(await turns.run("echo", "room again").outcome()).toMatchObject({ answer: "room again" });
});
