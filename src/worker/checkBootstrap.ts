import { isAbsolute } from "node:path";
import { isId, isName } from "../base/ids.js";
import { LIMITS } from "../base/limits.js";
import type { Duration } from "../gen/google/protobuf/duration.js";
import type { Bootstrap, TurnInput } from "../gen/talaria/owner/v1/owner_service.js";
import type { Policy } from "../gen/talaria/types/v1/policy.js";
import { RpcError } from "../rpc/rpcError.js";
import { WORKER_PROTOCOL } from "./build.js";
import { policyMistakes } from "./checkPolicy.js";

/** A bootstrap that has been found to keep the contract. */
export interface CheckedBootstrap extends Bootstrap {
  readonly policy: Policy;
  readonly input: TurnInput;
}

const MAX_INPUT_BYTES = 1_048_576;
const MAX_BUDGET_SECONDS = 366n * 24n * 3_600n;
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/**
 * Checks an assignment before anything of it is used.
 * @throws RpcError FRAME_INVALID, naming every field that breaks the contract and never its value.
 */
export function checkBootstrap(bootstrap: Bootstrap): CheckedBootstrap {
  const wrong: string[] = [];
  const need = (holds: boolean, field: string): void => {
    if (!holds) wrong.push(field);
  };
  need(bootstrap.protocol >= WORKER_PROTOCOL.min && bootstrap.protocol <= WORKER_PROTOCOL.max, "protocol");
  need(isId("exe", bootstrap.executionId), "execution_id");
  need(isId("ses", bootstrap.sessionId), "session_id");
  need(isName(bootstrap.agent), "agent");
  need(bootstrap.generation > 0n, "generation");
  need(bootstrap.epoch > 0n, "epoch");
  need(bootstrap.assignmentSecret.length === LIMITS.secretBytes, "assignment_secret");
  need(bootstrap.workspace === "" || isAbsolute(bootstrap.workspace), "workspace");
  const { policy, input, outbox, budgets } = bootstrap;
  wrong.push(...policyMistakes(policy));
  need(input !== undefined && isId("inp", input.inputId), "input.input_id");
  need(Buffer.byteLength(input?.text ?? "", "utf8") <= MAX_INPUT_BYTES, "input.text");
  need((input?.attachments.length ?? 0) <= LIMITS.attachments, "input.attachments");
  need((input?.depth ?? 0) <= LIMITS.depth, "input.depth");
  const names = bootstrap.tools.map(({ name }) => name);
  need(names.every((name) => TOOL_NAME.test(name)) && new Set(names).size === names.length, "tools");
  const credentials = bootstrap.credentials.map(({ name }) => name);
  need(!credentials.includes("") && new Set(credentials).size === credentials.length, "credentials");
  if (outbox !== undefined) {
    need(isAbsolute(outbox.directory), "outbox.directory");
    need(outbox.key.length === LIMITS.secretBytes, "outbox.key");
  }
  for (const [name, value] of Object.entries(budgets ?? {})) {
    if (isDuration(value)) need(value.seconds >= 0n && value.seconds <= MAX_BUDGET_SECONDS, `budgets.${snake(name)}`);
  }
  if (wrong.length > 0 || policy === undefined || input === undefined) {
    throw new RpcError("FRAME_INVALID", { message: `The bootstrap breaks the contract: ${wrong.join(", ")}.` });
  }
  return { ...bootstrap, policy, input };
}

function isDuration(value: unknown): value is Duration {
  return typeof value === "object" && value !== null && "seconds" in value;
}

function snake(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
