import { spawn } from "node:child_process";
import { once } from "node:events";

/** What {@link runTar} can be told. */
export interface TarOptions {
  /** Descriptor that gets what tar writes to standard output; default none. */
  readonly output?: number;
  /** Exit code up to which the work counts as done. Default 0. */
  readonly worstCode?: number;
  /** Ends it; default never. */
  readonly signal?: AbortSignal;
}

/**
 * Runs the system's `tar`.
 * @throws Error with what tar said; the system's error where there is no tar; the signal's reason once it has aborted.
 */
export async function runTar(
  args: readonly string[],
  { output, worstCode = 0, signal }: TarOptions = {},
): Promise<void> {
  signal?.throwIfAborted();
  const child = spawn("tar", args, { stdio: ["ignore", output ?? "ignore", "pipe"] });
  const end = (): void => void child.kill("SIGKILL");
  signal?.addEventListener("abort", end, { once: true });
  let said = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (said = `${said}${text}`.slice(-4_096)));
  try {
    const [code] = (await once(child, "close")) as [number | null];
    signal?.throwIfAborted();
    if (code === null || code > worstCode) throw new Error(`tar failed: ${said.trim()}`);
  } finally {
    signal?.removeEventListener("abort", end);
  }
}
