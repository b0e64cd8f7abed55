import { ApprovalChoice, type ApprovalRequest, type FileEdit } from "../../../gen/talaria/types/v1/prompt.js";
import { isRecord } from "../../isRecord.js";
import type {
  PermissionOption,
  RequestPermissionOutcome,
  RequestPermissionRequest,
  ToolCallUpdate,
} from "../../packages/acpPackages.js";
import type { ApprovalDecision } from "../../prompts/approvals.js";

/** The approval that stands for an agent's request for permission. Pure. */
export function approvalOf({ toolCall, options }: RequestPermissionRequest): ApprovalRequest {
  const { kind, title } = toolCall;
  const lasting = options.find((option) => option.kind === "allow_always");
  const about = [...(kind ? [` (${kind})`] : []), ...(title ? [`: ${title}`] : [])];
  // An agent's lasting permission may be wider than this one command: the person should read how it is called.
  const wider = lasting === undefined ? "" : `\nFor the session, the agent takes it as: ${lasting.name}`;
  return {
    command: commandOf(toolCall),
    description: `The agent asks for permission${about.join("")}${wider}`,
    allowSession: lasting !== undefined,
    // What an agent remembers it remembers by itself, in a session that ends with the turn.
    allowPermanent: false,
    smartDenied: false,
    edit: editOf(toolCall),
  };
}

/** The option that says what was decided; cancelled where the agent offers none that does. Pure. */
export function permissionOf(
  { allowed, choice, cause }: ApprovalDecision,
  options: readonly PermissionOption[],
): RequestPermissionOutcome {
  if (cause === "stopped") return { outcome: "cancelled" };
  const lasting = choice === ApprovalChoice.APPROVAL_CHOICE_SESSION || choice === ApprovalChoice.APPROVAL_CHOICE_ALWAYS;
  const kinds: readonly PermissionOption["kind"][] = allowed
    ? lasting
      ? ["allow_always", "allow_once"]
      : // Once is once: a wider permission was not given.
        ["allow_once"]
    : ["reject_once", "reject_always"];
  for (const kind of kinds) {
    const option = options.find((one) => one.kind === kind);
    if (option !== undefined) return { outcome: "selected", optionId: option.optionId };
  }
  return { outcome: "cancelled" };
}

function commandOf({ rawInput, title, toolCallId }: ToolCallUpdate): string {
  const input = isRecord(rawInput) ? rawInput["command"] : undefined;
  if (typeof input === "string" && input !== "") return input;
  if (Array.isArray(input) && input.length > 0 && input.every((part) => typeof part === "string"))
    return input.join(" ");
  return title || toolCallId;
}

function editOf({ content }: ToolCallUpdate): FileEdit | undefined {
  const diff = content?.find((part) => part.type === "diff");
  if (diff?.type !== "diff") return undefined;
  const mark = (text: string, sign: string): readonly string[] =>
    text === ""
      ? []
      : text
          .replace(/\n$/, "")
          .split("\n")
          .map((line) => `${sign}${line}`);
  const lines = [...mark(diff.oldText ?? "", "-"), ...mark(diff.newText, "+")];
  return { path: diff.path, diff: [`--- ${diff.path}`, `+++ ${diff.path}`, ...lines].join("\n") };
}
