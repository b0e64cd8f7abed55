import { z } from "zod";

/** What the rules look at, of a file whose values may have any type. */
interface Written {
  readonly runtime?: unknown;
  readonly model?: unknown;
  readonly api_key_file?: unknown;
  readonly api_key_env?: unknown;
  readonly worker?: { readonly command?: unknown; readonly env?: unknown } | null;
  readonly fallback_models?: unknown;
}

/**
 * The rules of `agent.yaml` that join several keys. They are checked also where a key by itself is wrong, so that one look finds
 * every mistake.
 */
export function agentRules(): z.core.$ZodCheck<object> {
  const check = z.core._check<object>((payload) => {
    // Whatever the type says, the value is what was written.
    const value: unknown = payload.value;
    if (typeof value !== "object" || value === null) return;
    for (const { path, message } of mistakes(value)) {
      payload.issues.push({ code: "custom", path: [...path], message, input: payload.value, continue: true });
    }
  });
  check._zod.def.when = () => true;
  return check;
}

function mistakes(agent: Written): readonly { readonly path: readonly PropertyKey[]; readonly message: string }[] {
  const found: { path: readonly PropertyKey[]; message: string }[] = [];
  const refuse = (path: readonly PropertyKey[], message: string): void => {
    found.push({ path, message });
  };
  const { runtime } = agent;
  if (runtime === "openai" && agent.model === undefined) refuse(["model"], "is required by runtime openai");
  if ((runtime === "acp" || runtime === "command") && agent.worker?.command === undefined) {
    refuse(["worker", "command"], `is required by runtime ${runtime}`);
  }
  // A program's environment can be read by others: a secret goes to a worker with its bootstrap.
  const variables = runtime === "acp" ? {} : (agent.worker?.env ?? {});
  for (const [name, value] of Object.entries(variables)) {
    const kept = typeof value === "object" && value !== null && ("env" in value || "file" in value);
    if (kept) refuse(["worker", "env", name], "must be a text, but with runtime acp: it is no place for a secret");
  }
  const twoKeys = (of: Written, path: readonly PropertyKey[]): void => {
    if (of.api_key_file === undefined || of.api_key_env === undefined) return;
    refuse([...path, "api_key_env"], "cannot be set beside api_key_file");
  };
  twoKeys(agent, []);
  const fallbacks: readonly unknown[] = Array.isArray(agent.fallback_models) ? agent.fallback_models : [];
  fallbacks.forEach((one, index) => {
    if (typeof one === "object" && one !== null) twoKeys(one, ["fallback_models", index]);
  });
  if (agent.model === undefined && (runtime === "echo" || runtime === "acp")) {
    // Nothing would be given the key; without a word about it, that shows only when it is missed.
    for (const key of ["api_key_file", "api_key_env"] as const) {
      if (agent[key] !== undefined) refuse([key], `needs a model with runtime ${runtime}`);
    }
  }
  if (fallbacks.length > 0 && agent.model === undefined) refuse(["fallback_models"], "needs a model before it");
  return found;
}
