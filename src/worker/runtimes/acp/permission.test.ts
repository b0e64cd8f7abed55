import { expect, test } from "vitest";

import { ApprovalChoice } from "../../../gen/talaria/types/v1/prompt.js";
import type { PermissionOption } from "../../packages/acpPackages.js";
import type { ApprovalDecision } from "../../prompts/approvals.js";
import { approvalOf, permissionOf } from "./permission.js";

const option = (kind: PermissionOption["kind"]): PermissionOption => ({ optionId: kind, name: kind, kind });
const all = (["allow_always", "allow_once", "reject_once", "reject_always"] as const).map(option);
const { APPROVAL_CHOICE_ONCE: once, APPROVAL_CHOICE_SESSION: session, APPROVAL_CHOICE_DENY: deny } = ApprovalChoice;

const decisions: readonly [ApprovalDecision, readonly PermissionOption[], string][] = [
  [{ allowed: true, choice: once, cause: "answered" }, all, "allow_once"],
  [{ allowed: true, choice: session, cause: "answered" }, all, "allow_always"],
  [{ allowed: true, choice: session, cause: "answered" }, [option("allow_once")], "allow_once"],
  [{ allowed: true, choice: undefined, cause: "granted" }, all, "allow_once"],
  // Once is once: a wider permission was not given.
  [{ allowed: true, choice: once, cause: "answered" }, [option("allow_always")], "cancelled"],
  [{ allowed: false, choice: deny, cause: "answered" }, all, "reject_once"],
  [{ allowed: false, choice: deny, cause: "answered" }, [option("reject_always")], "reject_always"],
  [{ allowed: false, choice: undefined, cause: "headless" }, [option("allow_once")], "cancelled"],
  [{ allowed: false, choice: undefined, cause: "stopped" }, all, "cancelled"],
];
test.each(decisions)("the decision %j becomes an option of the agent's", (decision, options, expected) => {
  const outcome = permissionOf(decision, options);
  expect(outcome.outcome === "selected" ? outcome.optionId : outcome.outcome).toBe(expected);
});

test.each([
  [{ rawInput: { command: "ls -l" } }, "ls -l"],
  [{ rawInput: { command: ["ls", "-l"] } }, "ls -l"],
  [{ rawInput: { command: 5 }, title: "List files" }, "List files"],
  [{ title: "" }, "t1"],
])("the tool call %j is asked about as %s", (call, command) => {
  const request = { sessionId: "s", toolCall: { toolCallId: "t1", ...call }, options: [option("allow_once")] };
  expect(approvalOf(request)).toMatchObject({ command, allowSession: false, allowPermanent: false, edit: undefined });
});

test("a change to a file is shown as one, and what may last is offered where the agent offers it", () => {
  const diff = { type: "diff" as const, path: "/w/a.txt", oldText: "one\ntwo\n", newText: "one\nthree" };
  const toolCall = { toolCallId: "t1", title: "Edit a.txt", kind: "edit" as const, content: [diff] };
  expect(approvalOf({ sessionId: "s", toolCall, options: all })).toMatchObject({
    command: "Edit a.txt",
    description:
      "The agent asks for permission (edit): Edit a.txt\nFor the session, the agent takes it as: allow_always",
    allowSession: true,
    edit: { path: "/w/a.txt", diff: "--- /w/a.txt\n+++ /w/a.txt\n-one\n-two\n+one\n+three" },
  });
});
