import { expect, test } from "vitest";

import { systemRandom } from "../../base/random.js";
import { FakeClock } from "../../base/testing/fakeClock.js";
import { AuthorKind } from "../../gen/talaria/types/v1/author.js";
import { ApprovalMode } from "../../gen/talaria/types/v1/policy.js";
import { turnApprovals } from "./approvalMode.js";
import { Approvals } from "./approvals.js";
import { PromptTable } from "./promptTable.js";

const author = (kind: AuthorKind) => ({ kind, id: "x", displayName: "", sentBy: "" });
const { APPROVAL_MODE_ALLOW: allow, APPROVAL_MODE_DENY: deny, APPROVAL_MODE_ASK: ask } = ApprovalMode;

test.each([
  [allow, AuthorKind.AUTHOR_KIND_CLIENT, "allow"],
  [allow, AuthorKind.AUTHOR_KIND_LOCAL_AGENT, "allow"],
  [allow, AuthorKind.AUTHOR_KIND_GATEWAY, "allow"],
  [allow, AuthorKind.AUTHOR_KIND_PEER_AGENT, "ask"],
  [allow, AuthorKind.AUTHOR_KIND_RELAY_AGENT, "ask"],
  [allow, AuthorKind.AUTHOR_KIND_UNSPECIFIED, "ask"],
  [allow, 99 as AuthorKind, "ask"],
  [deny, AuthorKind.AUTHOR_KIND_CLIENT, "deny"],
  [deny, AuthorKind.AUTHOR_KIND_PEER_AGENT, "deny"],
  [ask, AuthorKind.AUTHOR_KIND_CLIENT, "ask"],
  [ApprovalMode.APPROVAL_MODE_UNSPECIFIED, AuthorKind.AUTHOR_KIND_CLIENT, "ask"],
] as const)("mode %i in a turn of author %i: %s", (mode, kind, expected) => {
  expect(turnApprovals(mode, author(kind))).toBe(expected);
});

test("without an author a person is asked", () => {
  expect(turnApprovals(allow, undefined)).toBe("ask");
});

test.each(["allow", "deny"] as const)("%s settles at once, before grants and without a prompt", async (mode) => {
  const frames: unknown[] = [];
  const table = new PromptTable({
    send: (frame) => {
      frames.push(frame);
      return Promise.resolve();
    },
    clock: new FakeClock(),
    random: systemRandom,
    stopped: new AbortController().signal,
    limit: 16,
  });
  const approvals = new Approvals({
    table,
    mode,
    redact: (text) => text,
    granted: ["rm x"],
    headless: true,
    expiresMs: 1_000,
  });
  const decision = await approvals.ask({
    command: "rm x",
    description: "",
    allowSession: true,
    allowPermanent: true,
    smartDenied: false,
    edit: undefined,
  });
  expect(decision).toEqual({ allowed: mode === "allow", choice: undefined, cause: "policy" });
  expect(frames).toEqual([]);
});
