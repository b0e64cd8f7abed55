import { expect, test } from "vitest";
import { useScriptedOwner } from "./useScriptedOwner.js";

const fixture = useScriptedOwner();

test("a turn streams its answer, commits nothing twice and exits 0 after finish", async () => {
  const { worker, attachment } = await fixture.attach();
  const hello = await attachment.next("hello");
  expect(hello.token.equals(worker.token)).toBe(true);
  expect(hello.process?.pid).toBe(worker.child.pid);
  expect(hello.ancestors[0]?.pid).toBe(process.pid);
  expect(hello.protocol).toEqual({ min: 1, max: 1 });

  const text = "Hello  there,\n  spaced   out text. ";
  const bootstrap = attachment.bootstrap(text);
  expect((await attachment.next("ready")).pid).toBe(worker.child.pid);
  const { result } = await attachment.next("result");
  expect(result?.finalResponse).toBe(text);
  expect(result).toMatchObject({ completed: true, failed: false, interrupted: false, sessionId: bootstrap.sessionId });
  expect(attachment.text).toBe(text);

  attachment.send({ $case: "finish", value: {} });
  await attachment.next("finished");
  attachment.send({ $case: "close", value: { reason: 1, detail: 0, message: "" } });
  attachment.end();
  expect(await worker.exited()).toEqual({ code: 0, signal: null });
  expect(fixture.owner.store.adopts.at(-1)?.assignmentSecret.equals(bootstrap.assignmentSecret)).toBe(true);
  expect(fixture.owner.store.finishes).toHaveLength(1);
  expect(attachment.frames.map(({ sequence }) => sequence)).toEqual(attachment.frames.map((_, at) => BigInt(at + 1)));
  expect(worker.output).toBe("");
});
