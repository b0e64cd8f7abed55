import { expect, type TestAPI } from "vitest";

import { ApprovalChoice } from "../../src/gen/talaria/types/v1/prompt.js";
import type { TestGateway } from "./testGateway.js";
import { sessionOf } from "./turnClient.js";

/**
 * Tests of an agent `example` whose worker understands the words of docs/workers.md, against a real gateway.
 * @param stores whether it writes to its session, too
 */
export function commandWorkerTests(
  test: TestAPI | TestAPI["skip"],
  gateway: () => TestGateway,
  { stores = true }: { readonly stores?: boolean } = {},
): void {
  test("it answers, and streams what it answers", async () => {
    const run = gateway().client.run("example", "one two — drei");
    expect(await run.outcome()).toMatchObject({ outcome: "COMPLETED", answer: "one two — drei" });
    expect(run.text).toBe("one two — drei");
  });

  test("its tool calls are seen with arguments and result", async () => {
    const run = gateway().client.run("example", '!tool look {"at":"sky"} => blue');
    expect(await run.outcome()).toMatchObject({ outcome: "COMPLETED", answer: "look: blue" });
    const events = run.items.flatMap(({ update }) => (update?.$case === "events" ? update.value.events : []));
    expect(events.map(({ event }) => event?.$case)).toEqual(["toolStarted", "toolCompleted", "delta"]);
    expect(events[0]?.event?.value).toMatchObject({ name: "look", arguments: { at: "sky" } });
    expect(events[1]?.event?.value).toMatchObject({ name: "look", result: "blue", isError: false });
  });

  test("its approvals and questions reach a person and come back", async () => {
    const { client } = gateway();
    const approved = client.run("example", "!approve rm -rf build");
    const prompt = await approved.next("promptRaised");
    expect(prompt.request).toMatchObject({ $case: "approval", value: { command: "rm -rf build" } });
    await client.choose(prompt.promptId, ApprovalChoice.APPROVAL_CHOICE_SESSION);
    expect((await approved.outcome()).answer).toBe("approved: session");

    const asked = client.run("example", "!ask Which? | red | blue");
    const question = await asked.next("promptRaised");
    expect(question.request).toMatchObject({ $case: "clarify", value: { question: { choices: ["red", "blue"] } } });
    await client.reply(question.promptId, "blue");
    expect((await asked.outcome()).answer).toBe("answered: blue");
  });

  test("Stop ends its turn, and an open prompt with it", async () => {
    const { client } = gateway();
    for (const text of ["!sleep 3600000", "!approve ls"]) {
      const run = client.run("example", text);
      const executionId = await run.started();
      await (text.startsWith("!approve") ? run.next("promptRaised") : run.next("phaseChanged"));
      await client.stop(executionId);
      expect((await run.outcome()).outcome).toBe("INTERRUPTED");
    }
  });

  test("a failure is a failed turn, and what goes wrong in it ends the worker with a reason", async () => {
    const { client } = gateway();
    expect(await client.run("example", "!fail RUNTIME_FAILED it broke").outcome()).toMatchObject({
      outcome: "FAILED",
      reason: "RUNTIME_FAILED",
      message: "it broke",
    });
    const thrown = await client.run("example", "!tool look nonsense => x").outcome();
    expect(thrown).toMatchObject({ outcome: "FAILED", reason: "RUNTIME_FAILED" });
    expect(thrown.message).not.toBe("");
  });

  if (!stores) return;
  test("it writes to its session, and an answer over the receipt's bound arrives whole", async () => {
    const { client, rows } = gateway();
    const appended = client.run("example", "!append noted");
    expect((await appended.outcome()).answer).toMatch(/^appended: row \d+$/);
    const sessionId = await sessionOf(appended);
    expect(rows("SELECT text FROM messages WHERE session_id = ? AND text = 'noted'", sessionId)).toHaveLength(1);
    const { turn } = await client.run("example", "!repeat 300000 12345").outcome();
    expect(turn.result?.answer?.sizeBytes).toBe(1_500_000n);
  });
}
