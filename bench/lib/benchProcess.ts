import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { AnswerMessage, InputOf, Methods, OutputOf } from "./calls.js";

/** A process of its own whose methods can be called. */
export interface BenchProcess<M extends Methods> {
  readonly pid: number;
  /** Rejects with the other process's stack where the method throws, and where that process ends. */
  call<Name extends keyof M & string>(name: Name, input: InputOf<M[Name]>): Promise<OutputOf<M[Name]>>;
  /** Disconnects and waits for its end. */
  end(): Promise<void>;
}

/** Starts a built entry, by its name without a suffix, from the directory that holds this code. */
export function startProcess<M extends Methods>(entry: string): BenchProcess<M> {
  const child = fork(fileURLToPath(new URL(`./${entry}.js`, import.meta.url)), [], {
    execArgv: [],
    serialization: "advanced",
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const waiting = new Map<number, { resolve: (output: unknown) => void; reject: (error: Error) => void }>();
  let last = 0;
  child.on("message", (message: AnswerMessage) => {
    const call = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.kind === "done") call?.resolve(message.output);
    else call?.reject(new Error(`${entry}: ${message.message}`));
  });
  const exited = once(child, "exit").then(([code, signal]) => {
    for (const { reject } of waiting.values()) {
      reject(new Error(`${entry} has ended: code ${String(code)}, signal ${String(signal)}`));
    }
    waiting.clear();
  });
  return {
    pid: child.pid ?? 0,
    call(name, input) {
      last += 1;
      const id = last;
      const output = new Promise<unknown>((resolve, reject) => {
        waiting.set(id, { resolve, reject });
      });
      child.send({ id, method: name, input });
      return output as Promise<OutputOf<M[typeof name]>>;
    },
    async end() {
      if (child.connected) child.disconnect();
      await exited;
    },
  };
}
