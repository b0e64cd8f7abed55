import type { Reason } from "../../../rpc/reasons.js";

/** A question of an `!ask` line. */
export interface AskedQuestion {
  readonly text: string;
  readonly choices: readonly string[];
}

/** A directive with its arguments read. See DIRECTIVES for what each does. */
export type Directive =
  | { readonly verb: "say"; readonly text: string }
  | {
      readonly verb: "tool" | "tool-error";
      readonly name: string;
      readonly arguments: Readonly<Record<string, unknown>>;
      readonly result: string;
    }
  | { readonly verb: "approve"; readonly command: string }
  | { readonly verb: "ask"; readonly questions: readonly AskedQuestion[] }
  | { readonly verb: "dm"; readonly target: string; readonly body: string }
  | { readonly verb: "child"; readonly tasks: readonly string[] }
  | { readonly verb: "check"; readonly deliveryId: string }
  | { readonly verb: "sleep" | "spin" | "mute"; readonly ms: number }
  | { readonly verb: "hold"; readonly mebibytes: number }
  | { readonly verb: "flood"; readonly count: number; readonly burst: number; readonly bytes: number }
  | { readonly verb: "hang-child" | "leave-child" | "silent" | "history" | "deaf" }
  | { readonly verb: "crash"; readonly how: { readonly code: number } | { readonly signal: NodeJS.Signals } }
  | { readonly verb: "fail"; readonly reason: Reason; readonly message: string }
  | { readonly verb: "first"; readonly directive: Directive }
  | { readonly verb: "error" | "stdout" | "stderr" | "title" | "append"; readonly text: string }
  | {
      readonly verb: "usage";
      readonly inputTokens: number;
      readonly outputTokens: number;
      readonly costUsd: number | undefined;
    }
  | { readonly verb: "repeat"; readonly count: number; readonly text: string };

/** One step of a script: text to echo, a directive, or a line that is none although it starts with `!`. */
export type Step =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "directive"; readonly directive: Directive }
  | { readonly kind: "malformed"; readonly problem: string };
