import { describe, expect } from "vitest";

import { beginGrpcurl, FROM_FILES, runGrpcurl, type GrpcurlCall } from "./grpcurl.js";
import { jsonDocuments } from "./jsonDocuments.js";
import { outsideTool } from "./outsideTool.js";
import type { Ended } from "./runTool.js";
import { turnUpdates } from "./turnUpdates.js";
import { TRANSPORTS, useGateway } from "./useGateway.js";

const { test, runs } = outsideTool("grpcurl");
const gateway = useGateway({ when: runs });

const RUN_TURN = "talaria.gateway.v1.TurnService/RunTurn";
const MESSAGES = "talaria.dm.v1.DirectMessageService";
/** grpcurl ends a refused call with this plus the status code. */
const EXIT = { invalidArgument: 64 + 3, notFound: 64 + 5, unauthenticated: 64 + 16 } as const;

describe.each(TRANSPORTS)("grpcurl over %s", (transport) => {
  const curl = (call: GrpcurlCall): Promise<Ended> => runGrpcurl(gateway(), transport, call);
  const run = (id: string, text: string, agent = "main"): GrpcurlCall => ({
    words: [RUN_TURN],
    request: { request_id: `${transport}-${id}`, agent, text },
  });

  test("lists what the listener serves and nothing else", async () => {
    const { code, stdout, stderr } = await curl({ words: ["list"] });
    expect(code, stderr).toBe(0);
    expect(stdout.trim().split("\n")).toEqual([
      "grpc.health.v1.Health",
      "grpc.reflection.v1.ServerReflection",
      "grpc.reflection.v1alpha.ServerReflection",
      "talaria.dm.v1.DirectMessageService",
      "talaria.gateway.v1.AdminService",
      "talaria.gateway.v1.AgentService",
      "talaria.gateway.v1.SessionService",
      "talaria.gateway.v1.TurnService",
    ]);
  });

  test("lists the methods of a service", async () => {
    const { stdout } = await curl({ words: ["list", MESSAGES] });
    expect(stdout).toContain(`${MESSAGES}.SendDirectMessage\n`);
    expect(stdout).toContain(`${MESSAGES}.WatchDelivery\n`);
  });

  test("describes DeliverDM, which only peers may call", async () => {
    const { code, stdout, stderr } = await curl({ words: ["describe", "talaria.dm.v1.PeerService.DeliverDM"] });
    expect(code, stderr).toBe(0);
    expect(stdout).toContain(
      "rpc DeliverDM ( .talaria.dm.v1.DeliverDMRequest ) returns ( .talaria.dm.v1.DeliverDMResponse )",
    );
    expect(stdout).toContain("option idempotency_level = IDEMPOTENT;");
    const request = await curl({ words: ["describe", "talaria.dm.v1.DeliverDMRequest"] });
    expect(request.stdout).toContain(".talaria.dm.v1.Envelope envelope = 2;");
  });

  test("describes messages whose fields come from other files and from Google's", async () => {
    const envelope = await curl({ words: ["describe", "talaria.dm.v1.Envelope"] });
    expect(envelope.stdout).toContain(".google.protobuf.Timestamp expires_at = 8;");
    expect(envelope.stdout).toContain(".talaria.types.v1.TraceContext trace = 11;");
    const timestamp = await curl({ words: ["describe", "google.protobuf.Timestamp"] });
    expect(timestamp.stdout).toContain("int64 seconds = 1;");
    const detail = await curl({ words: ["describe", "google.rpc.ErrorInfo"] });
    expect(detail.stdout).toContain("string reason = 1;");
  });

  test("checks the health of the listener and of a service", async () => {
    const check = "grpc.health.v1.Health/Check";
    expect(JSON.parse((await curl({ words: [check] })).stdout)).toEqual({ status: "SERVING" });
    const one = await curl({ words: [check], request: { service: "talaria.gateway.v1.TurnService" } });
    expect(JSON.parse(one.stdout)).toEqual({ status: "SERVING" });
    const other = await curl({ words: [check], request: { service: "talaria.dm.v1.PeerService" } });
    expect(other).toMatchObject({ code: EXIT.notFound });
  });

  test("runs a turn: streamed text, timestamps, the outcome; the same request_id replays it", async () => {
    const first = await curl(run("turn", "Hello from the outside"));
    expect(first.code, first.stderr).toBe(0);
    const turn = turnUpdates(first.stdout);
    expect(turn.replayed).toBe(false);
    expect(turn.pieces.length).toBeGreaterThan(1);
    expect(turn.pieces.join("")).toBe("Hello from the outside");
    expect(turn.ended).toMatchObject({
      outcome: "TURN_OUTCOME_COMPLETED",
      result: { finalResponse: "Hello from the outside" },
    });
    expect(Math.abs(Date.parse(turn.ended?.queuedAt ?? "") - Date.now())).toBeLessThan(60_000);

    const again = turnUpdates((await curl(run("turn", "Hello from the outside"))).stdout);
    expect(again.replayed).toBe(true);
    expect(again.ended).toMatchObject({ inputId: turn.ended?.inputId, outcome: "TURN_OUTCOME_COMPLETED" });
  });

  test("sees a prompt while the turn waits for it, and answers it in another call", async () => {
    const turn = beginGrpcurl(gateway(), transport, {
      words: [RUN_TURN],
      request: { request_id: `${transport}-approve`, agent: "main", text: "!approve ls", answers_prompts: true },
    });
    const raised = new Promise<string>((resolve) => {
      turn.child.stdout.on("data", () => {
        const id = /"promptRaised": \{\s+"promptId": "(prm_\w+)"/.exec(turn.stdout())?.[1];
        if (id !== undefined) resolve(id);
      });
    });
    const early = turn.ended.then(({ stdout, stderr }) => Promise.reject(new Error(`it ended:\n${stdout}${stderr}`)));
    early.catch(() => undefined);
    const promptId = await Promise.race([raised, early]);
    const answer = await curl({
      words: ["talaria.gateway.v1.TurnService/AnswerPrompt"],
      request: { request_id: `${transport}-answer`, prompt_id: promptId, choice: "APPROVAL_CHOICE_ONCE" },
    });
    expect(JSON.parse(answer.stdout)).toMatchObject({ prompt: { promptId, choice: "APPROVAL_CHOICE_ONCE" } });
    const ended = turnUpdates((await turn.ended).stdout);
    expect(ended.updates.flatMap(({ promptRaised }) => promptRaised?.offered ?? [])).toContain("APPROVAL_CHOICE_DENY");
    expect(ended.ended).toMatchObject({
      outcome: "TURN_OUTCOME_COMPLETED",
      result: { finalResponse: "approved: once" },
    });
  });

  test("sends a message and reads its end from WatchDelivery", async () => {
    const request = { request_id: `${transport}-dm`, target: "main", body: `Ping over ${transport}` };
    const sent = await curl({ words: [`${MESSAGES}/SendDirectMessage`], request });
    expect(sent.code, sent.stderr).toBe(0);
    const { delivery } = JSON.parse(sent.stdout) as { delivery: { deliveryId: string } };
    const watch = { words: [`${MESSAGES}/WatchDelivery`], request: { delivery_id: delivery.deliveryId } };
    const changes = jsonDocuments((await curl(watch)).stdout) as { delivery: { state: string } }[];
    expect(changes.at(-1)).toMatchObject({
      delivery: { state: "DELIVERY_STATE_REPLIED", reply: { text: `Ping over ${transport}` } },
    });
    const again = await curl({ words: [`${MESSAGES}/SendDirectMessage`], request });
    expect(JSON.parse(again.stdout)).toMatchObject({ delivery: { deliveryId: delivery.deliveryId }, replayed: true });
  });

  test("prints why an agent is not found", async () => {
    const { code, stderr } = await curl(run("nobody", "Hello", "nobody"));
    expect(code).toBe(EXIT.notFound);
    expect(stderr).toContain("Code: NotFound");
    expect(stderr).toContain('"@type": "type.googleapis.com/google.rpc.ErrorInfo"');
    expect(stderr).toContain('"reason": "UNKNOWN_AGENT"');
  });

  test("prints every field that is wrong", async () => {
    const { code, stderr } = await curl({
      words: [RUN_TURN],
      request: { request_id: "", agent: "main", text: "" },
      flags: ["-format-error"],
    });
    expect(code).toBe(EXIT.invalidArgument);
    const { details } = JSON.parse(stderr) as { details: object[] };
    expect(details).toContainEqual({
      "@type": "type.googleapis.com/google.rpc.BadRequest",
      fieldViolations: [
        { field: "request_id", description: expect.stringContaining("is required") as string },
        { field: "text", description: "must not be empty" },
      ],
    });
  });
});

describe("grpcurl over tcp", () => {
  const refused: readonly [string, string | null, string][] = [
    ["without a token", null, "UNAUTHENTICATED"],
    ["with a token that is not known", "tal_wrong", "TOKEN_INVALID"],
  ];
  test.each(refused)("is refused %s", async (_case, token, reason) => {
    const listed = await runGrpcurl(gateway(), "tcp", { words: ["list"], token });
    expect(listed.code).not.toBe(0);
    expect(listed.stderr).toContain("code = Unauthenticated");

    const request = { request_id: "refused", agent: "main", text: "Hello" };
    const called = await runGrpcurl(gateway(), "tcp", { words: [RUN_TURN], request, token, flags: FROM_FILES });
    expect(called).toMatchObject({ code: EXIT.unauthenticated, stdout: "" });
    expect(called.stderr).toContain(`"reason": "${reason}"`);
  });

  test("asks for health without a token, as probes do", async () => {
    const words = ["grpc.health.v1.Health/Check"];
    const { code, stdout } = await runGrpcurl(gateway(), "tcp", { words, token: null, flags: FROM_FILES });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ status: "SERVING" });
  });
});

describe("grpcurl where reflection is not enabled on tcp", () => {
  const closed = useGateway({ reflectionOnTcp: false, when: runs });

  test("finds none there, runs a turn from the contract's files, and has reflection on the socket", async () => {
    const listed = await runGrpcurl(closed(), "tcp", { words: ["list"] });
    expect(listed.code).not.toBe(0);
    expect(listed.stderr).toContain("server does not support the reflection API");

    const request = { request_id: "files", agent: "main", text: "From files" };
    const ran = await runGrpcurl(closed(), "tcp", { words: [RUN_TURN], request, flags: FROM_FILES });
    expect(turnUpdates(ran.stdout).ended).toMatchObject({ outcome: "TURN_OUTCOME_COMPLETED" });

    expect((await runGrpcurl(closed(), "unix", { words: ["list"] })).stdout).toContain("talaria.gateway.v1");
  });
});
