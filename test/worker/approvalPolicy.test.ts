import { expect, test } from "vitest";

import { AuthorKind } from "../../src/gen/talaria/types/v1/author.js";
import { ApprovalMode } from "../../src/gen/talaria/types/v1/policy.js";
import { useScriptedOwner } from "./useScriptedOwner.js";

const fixture = useScriptedOwner();
const { APPROVAL_MODE_ALLOW: allow, APPROVAL_MODE_DENY: deny } = ApprovalMode;

/** Runs a turn that needs an approval and in which nobody can be asked. @returns its answer and the prompts it raised. */
async function ask(approvals: ApprovalMode, kind: AuthorKind): Promise<readonly [string | undefined, number]> {
  const { worker, attachment } = await fixture.attach();
  await attachment.next("hello");
  const text = "!approve rm -r old";
  attachment.bootstrap(text, {
    policy: { runtime: "echo", approvals },
    headless: true,
    input: { inputId: `inp_${"0".repeat(26)}`, text, author: { kind, id: "x" } },
  });
  const { result } = await attachment.next("result");
  attachment.send({ $case: "finish", value: {} });
  await attachment.next("finished");
  attachment.end();
  await worker.exited();
  return [result?.finalResponse, attachment.kinds.filter((one) => one === "approval").length];
}

test("allow covers people, agents and the gateway here, and nothing that comes from elsewhere", async () => {
  expect(await ask(allow, AuthorKind.AUTHOR_KIND_CLIENT)).toEqual(["approved: policy", 0]);
  expect(await ask(allow, AuthorKind.AUTHOR_KIND_PEER_AGENT)).toEqual(["denied: headless", 0]);
  expect(await ask(allow, AuthorKind.AUTHOR_KIND_RELAY_AGENT)).toEqual(["denied: headless", 0]);
});

test("deny asks nobody", async () => {
  expect(await ask(deny, AuthorKind.AUTHOR_KIND_CLIENT)).toEqual(["denied: policy", 0]);
});
