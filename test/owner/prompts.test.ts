import { expect, test } from "vitest";

import { AgentServiceService } from "../../src/gen/talaria/gateway/v1/agent_service.js";
import { SessionServiceService } from "../../src/gen/talaria/gateway/v1/session_service.js";
import { ApprovalChoice, ApprovalRequest, ClarifyRequest, PromptEnd } from "../../src/gen/talaria/types/v1/prompt.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import type { ForeignWorker } from "../kit/foreignWorkers.js";
import { refusalOf, sessionOf } from "../kit/turnClient.js";
import { beginRunningTurn } from "../kit/heldTurn.js";
import { useForeignWorkers } from "../kit/useForeignWorkers.js";
import { useTestGateway } from "../kit/useTestGateway.js";
import { waitUntil } from "../kit/waitFor.js";

const { APPROVAL_CHOICE_ONCE, APPROVAL_CHOICE_SESSION, APPROVAL_CHOICE_ALWAYS, APPROVAL_CHOICE_DENY } = ApprovalChoice;
const workers = useForeignWorkers();
const gateway = useTestGateway({
  agents: {
    echo: { runtime: "echo" },
    keeper: { runtime: "echo" },
    foreign: { runtime: "command", worker: { command: workers.command } },
  },
  budgets: { approvalMs: 1_500, clarifyMs: 0, heartbeatMissedMs: 20_000 },
  poolSize: 1,
});

const beginRunning = () => beginRunningTurn(gateway(), workers);

function approve(worker: ForeignWorker, promptId: string, request: Partial<ApprovalRequest> = {}): void {
  const value = { promptId, request: ApprovalRequest.fromPartial({ command: "rm", description: "", ...request }) };
  worker.send({ $case: "approval", value });
}

function ask(worker: ForeignWorker, promptId: string): void {
  const request = ClarifyRequest.fromPartial({ question: { questionId: "q", text: "Which?" }, position: 1, total: 1 });
  worker.send({ $case: "clarify", value: { promptId, request } });
}

const offers: readonly [string, Partial<ApprovalRequest>, readonly ApprovalChoice[]][] = [
  ["nothing more than once", {}, [APPROVAL_CHOICE_ONCE, APPROVAL_CHOICE_DENY]],
  ["the session", { allowSession: true }, [APPROVAL_CHOICE_ONCE, APPROVAL_CHOICE_SESSION, APPROVAL_CHOICE_DENY]],
  [
    "everything",
    { allowSession: true, allowPermanent: true },
    [APPROVAL_CHOICE_ONCE, APPROVAL_CHOICE_SESSION, APPROVAL_CHOICE_ALWAYS, APPROVAL_CHOICE_DENY],
  ],
  [
    "what a policy has advised against",
    { allowSession: true, allowPermanent: true, smartDenied: true },
    [APPROVAL_CHOICE_ONCE, APPROVAL_CHOICE_DENY],
  ],
];
test.each(offers)("an approval that allows %s offers just that", async (_name, request, offered) => {
  const { run, worker } = await beginRunning();
  approve(worker, "a", request);
  const prompt = await run.next("promptRaised");
  expect(prompt.offered).toEqual(offered);
  for (const choice of [APPROVAL_CHOICE_SESSION, APPROVAL_CHOICE_ALWAYS, 77 as ApprovalChoice]) {
    if (offered.includes(choice)) continue;
    expect(await refusalOf(gateway().client.choose(prompt.promptId, choice))).toBe("PROMPT_CHOICE_NOT_OFFERED");
  }
  await gateway().client.choose(prompt.promptId, APPROVAL_CHOICE_DENY);
  expect(await worker.next("approvalAnswer")).toMatchObject({ promptId: "a", choice: APPROVAL_CHOICE_DENY });
  worker.result();
  await run.outcome();
});

test("an answer of the other kind is refused and the prompt stays open", async () => {
  const { client } = gateway();
  const run = client.run("echo", "!ask Which? | left | right");
  const { promptId } = await run.next("promptRaised");
  expect(await refusalOf(client.choose(promptId, APPROVAL_CHOICE_ONCE))).toBe("INVALID_FIELD");
  expect(await refusalOf(client.reply(promptId, "x".repeat(16_385)))).toBe("INVALID_FIELD");
  await client.reply(promptId, "left");
  expect((await run.outcome()).answer).toContain("left");
});

test("F19 a seventeenth prompt is refused to the worker and the turn goes on; each end frees a place", async () => {
  const { run, worker } = await beginRunning();
  for (let index = 1; index <= 17; index += 1) ask(worker, `p${String(index)}`);
  expect(await worker.next("promptRefused")).toMatchObject({ promptId: "p17" });
  const open = await gateway().client.prompts(await sessionOf(run));
  expect(open).toHaveLength(16);
  worker.send({ $case: "promptSettled", value: { promptId: "p1", end: PromptEnd.PROMPT_END_WITHDRAWN } });
  expect((await run.next("promptEnded")).end).toBe(PromptEnd.PROMPT_END_WITHDRAWN);
  ask(worker, "p18");
  await run.until("a prompt in the freed place", () =>
    run.kinds.filter((kind) => kind === "promptRaised").length === 17 ? true : undefined,
  );
  worker.result();
  await run.outcome();
  expect(run.kinds.filter((kind) => kind === "promptEnded")).toHaveLength(17);
  const ended = run.kinds.indexOf("turnEnded");
  expect(run.kinds.lastIndexOf("promptEnded")).toBeLessThan(ended);
  expect(gateway().rows("SELECT 1 FROM prompts WHERE end IS NULL")).toEqual([]);
});

test("F19 a prompt id that was used before breaks the contract", async () => {
  const { run, worker } = await beginRunning();
  ask(worker, "same");
  ask(worker, "same");
  expect(await run.outcome()).toMatchObject({ outcome: "FAILED", reason: "FRAME_INVALID" });
  expect((await run.next("promptEnded")).end).toBe(PromptEnd.PROMPT_END_EXECUTION_ENDED);
});

test("OC-12 the prompt of a worker that was lost is withdrawn with it", async () => {
  const { run, worker } = await beginRunning();
  approve(worker, "a");
  const { promptId } = await run.next("promptRaised");
  worker.exit(1);
  await run.outcome();
  expect((await run.next("promptEnded")).end).toBe(PromptEnd.PROMPT_END_EXECUTION_ENDED);
  expect(await refusalOf(gateway().client.choose(promptId, APPROVAL_CHOICE_ONCE))).toBe("PROMPT_ALREADY_RESOLVED");
});

test("always is kept for the agent, asked no more in later sessions, and another agent does not have it", async () => {
  const { client, rows } = gateway();
  const run = client.run("keeper", "!approve deploy");
  const prompt = await run.next("promptRaised");
  expect(prompt.offered).toContain(APPROVAL_CHOICE_ALWAYS);
  await client.choose(prompt.promptId, APPROVAL_CHOICE_ALWAYS);
  await run.outcome();
  expect(rows("SELECT agent, command FROM grants")).toEqual([{ agent: "keeper", command: "deploy" }]);
  const again = client.run("keeper", "!approve deploy");
  expect((await again.outcome()).answer).toContain("approved");
  expect(again.kinds).not.toContain("promptRaised");
  const other = client.run("echo", "!approve deploy");
  await client.choose((await other.next("promptRaised")).promptId, APPROVAL_CHOICE_DENY);
  expect((await other.outcome()).answer).toContain("denied");
});

test("OW37 a grant that was revoked is asked for again in the next turn of the same session", async () => {
  const { client, rows } = gateway();
  const run = client.run("keeper", "!approve ship");
  const sessionId = await sessionOf(run);
  await client.choose((await run.next("promptRaised")).promptId, APPROVAL_CHOICE_ALWAYS);
  await run.outcome();
  const granted = await client.say(sessionId, "!approve ship").outcome();
  expect(granted.answer).toContain("approved");
  const [grant] = rows<{ grant_id: string }>("SELECT grant_id FROM grants WHERE command = 'ship'");
  const revocation = { requestId: "revoke", grantId: grant?.grant_id ?? "" };
  await unaryCall(client.client, AgentServiceService.revokeGrant, revocation);
  const asked = client.say(sessionId, "!approve ship");
  await client.choose((await asked.next("promptRaised")).promptId, APPROVAL_CHOICE_DENY);
  expect((await asked.outcome()).answer).toContain("denied");
});

test("OW42 a headless turn raises no prompt: approval is denied and a question is skipped at once", async () => {
  const { client } = gateway();
  const run = client.run("echo", "!approve rm\n!ask Which?\n!say end", { headless: true });
  const ended = await run.outcome();
  expect(ended.outcome).toBe("COMPLETED");
  expect(ended.answer).not.toContain("approved");
  expect(ended.answer).toContain("end");
  expect(run.kinds).not.toContain("promptRaised");
});

test("an approval for the session holds in its later turns, in no other session, and not behind a reset", async () => {
  const { client } = gateway();
  const run = client.run("echo", "!approve rm -r build");
  const sessionId = await sessionOf(run);
  const first = await run.next("promptRaised");
  expect(first.offered).toContain(APPROVAL_CHOICE_SESSION);
  await client.choose(first.promptId, APPROVAL_CHOICE_SESSION);
  await run.outcome();
  const later = client.say(sessionId, "!approve rm -r build");
  expect((await later.outcome()).answer).toContain("approved");
  expect(later.kinds).not.toContain("promptRaised");
  for (const asked of [client.run("echo", "!approve rm -r build"), client.say(sessionId, "!approve rm -r src")]) {
    await client.choose((await asked.next("promptRaised")).promptId, APPROVAL_CHOICE_DENY);
    expect((await asked.outcome()).answer).toContain("denied");
  }
  const held = "SELECT 1 FROM sessions WHERE session_id = ? AND running_execution_id IS NOT NULL";
  await waitUntil("the session is free", () => gateway().rows(held, sessionId).length === 0);
  await unaryCall(client.client, SessionServiceService.resetSession, { requestId: "reset", sessionId });
  const behind = client.say(sessionId, "!approve rm -r build");
  await client.choose((await behind.next("promptRaised")).promptId, APPROVAL_CHOICE_DENY);
  await behind.outcome();
});

test("OW42 a prompt of a headless turn is answered at once and nobody sees it, also where its worker raises one all the same", async () => {
  const run = gateway().client.run("foreign", "hello", { headless: true });
  const worker = await workers.next();
  await worker.running();
  approve(worker, "a");
  ask(worker, "q");
  const end = PromptEnd.PROMPT_END_HEADLESS;
  expect(await worker.next("approvalAnswer")).toEqual({ promptId: "a", choice: APPROVAL_CHOICE_DENY, end });
  expect(await worker.next("clarifyAnswer")).toEqual({ promptId: "q", text: "", end });
  worker.result();
  await worker.leave();
  expect((await run.outcome()).outcome).toBe("COMPLETED");
  expect(run.kinds).not.toContain("promptRaised");
});

test("OW-R27 a prompt that is raised after a Stop is answered with it, and cannot be approved", async () => {
  const { run, worker } = await beginRunning();
  const { executionId } = await run.next("turnStarted").then(({ turn }) => turn ?? { executionId: "" });
  approve(worker, "before");
  await run.next("promptRaised");
  await gateway().client.stop(executionId);
  approve(worker, "after");
  const choice = APPROVAL_CHOICE_DENY;
  for (const promptId of ["before", "after"]) {
    const { frame } = await worker.frames.first(
      `answer to ${promptId}`,
      ({ frame }) => frame?.$case === "approvalAnswer" && frame.value.promptId === promptId,
    );
    expect(frame?.value).toEqual({ promptId, choice, end: PromptEnd.PROMPT_END_STOPPED });
  }
  worker.result({ interrupted: true, finalResponse: "" });
  await worker.leave();
  expect((await run.outcome()).outcome).toBe("INTERRUPTED");
  expect(run.kinds.filter((kind) => kind === "promptRaised")).toHaveLength(1);
});
