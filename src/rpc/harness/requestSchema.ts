import type { ZodType } from "zod";
import { RpcError, type FieldViolation } from "../rpcError.js";

const MAX_VIOLATIONS = 20;

/** Checks a decoded request. @throws RpcError INVALID_FIELD naming at most 20 fields, never their values. */
export function checkRequest<Checked>(schema: ZodType<Checked>, request: unknown): Checked {
  const result = schema.safeParse(request);
  if (result.success) return result.data;
  const fieldViolations = result.error.issues
    .slice(0, MAX_VIOLATIONS)
    .map((issue): FieldViolation => ({ field: protoPath(request, issue.path), description: issue.message }));
  const [first] = fieldViolations;
  const message = first === undefined ? undefined : `${first.field}: ${first.description}`;
  throw new RpcError("INVALID_FIELD", { fieldViolations, ...(message === undefined ? {} : { message }) });
}

/**
 * Spells the path of a generated message's field as the proto file does: snake case, `[i]` for elements, and the chosen member
 * in place of its oneof (generated code holds `{ $case, value }` under the oneof's name).
 */
export function protoPath(root: unknown, path: readonly PropertyKey[]): string {
  let text = "";
  let parent: unknown = root;
  for (const key of path) {
    const inOneof = chosenMember(parent) !== undefined;
    const value = member(parent, key);
    const chosen = chosenMember(value);
    if (typeof key === "number") text += `[${String(key)}]`;
    else if (!inOneof) text += (text === "" ? "" : ".") + snakeCase(chosen ?? String(key));
    parent = value;
  }
  return text === "" ? "request" : text;
}

function member(parent: unknown, key: PropertyKey): unknown {
  return typeof parent === "object" && parent !== null ? (parent as Record<PropertyKey, unknown>)[key] : undefined;
}

function chosenMember(value: unknown): string | undefined {
  const chosen = member(value, "$case");
  return typeof chosen === "string" ? chosen : undefined;
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
