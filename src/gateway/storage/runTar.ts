import { spawn } from "node:child_process";
import { once } from "node:events";

/** What {@link runTar} can be told. */
export interface TarOptions {
  /** Descriptor that gets what tar writes to standard output; default none. */
  readonly output?: number;
  /** Exit code up to which the work counts as done. Default 0. */
  readonly worstCode?: number;
}

/**
 * Runs the system's `tar`.
 * @throws Error with what tar said; the system's error where there is no tar.
 */
export async function runTar(args: readonly string[], { output, worstCode = 0 }: TarOptions = {}): Promise<void> {
  const child = spawn("tar", args, { stdio: ["ignore", output ?? "ignore", "pipe"] });
  let said = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (said = `${said}${text}`.slice(-4_096)));
  const [code] = (await once(child, "close")) as [number | null];
  if (code === null || code > worstCode) throw new Error(`tar failed: ${said.trim()}`);
}
