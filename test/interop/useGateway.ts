import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect } from "vitest";

import { paths } from "./paths.js";
import { runTool } from "./runTool.js";

/** How a client reaches the gateway. */
export type Transport = "tcp" | "unix";

/** Both transports, for `describe.each`. */
export const TRANSPORTS: readonly Transport[] = ["tcp", "unix"];

/** A `talaria serve` process. */
export interface Gateway {
  readonly home: string;
  /** What gRPC clients dial: `unix:///<path>` and `<host>:<port>`. */
  readonly addresses: Readonly<Record<Transport, string>>;
  /** A token of the role `client` for TCP. */
  readonly token: string;
}

/** Settings of {@link useGateway}. */
export interface UseGatewayOptions {
  /** Whether TCP offers reflection; default true. */
  readonly reflectionOnTcp?: boolean;
  /** False starts nothing: every test of the file is skipped. */
  readonly when?: boolean;
}

/**
 * Serves one temporary home over TCP and its Unix socket for all tests of a file. At the end it must drain with exit
 * code 0.
 * @returns the gateway, once a test runs
 */
export function useGateway({ reflectionOnTcp = true, when = true }: UseGatewayOptions = {}): () => Gateway {
  let gateway: Gateway | undefined;
  if (when) {
    let stop = async (): Promise<void> => undefined;
    beforeAll(async () => {
      const home = mkdtempSync(join(tmpdir(), "ti-"));
      stop = async () => {
        rmSync(home, { recursive: true, force: true });
      };
      writeFileSync(
        join(home, "talaria.yaml"),
        `name: north\nlisteners: { client_tcp: { port: 0 }, reflection_on_tcp: ${String(reflectionOnTcp)} }\n`,
      );
      const child = spawn(process.execPath, [paths.command, "--json", "--home", home, "serve"], {
        stdio: ["ignore", "pipe", "pipe"],
      });
      let log = "";
      child.stderr.setEncoding("utf8").on("data", (text: string) => (log += text));
      const closed = once(child, "close") as Promise<[number | null]>;
      stop = async () => {
        child.kill("SIGTERM");
        const [code] = await closed;
        rmSync(home, { recursive: true, force: true });
        expect(code, log).toBe(0);
      };
      const early = closed.then(([code]) => Promise.reject(new Error(`it ended with ${String(code)}:\n${log}`)));
      early.catch(() => undefined);
      const [line] = await Promise.race([
        once(createInterface({ input: child.stdout }), "line") as Promise<[string]>,
        early,
      ]);
      const { addresses } = JSON.parse(line) as { addresses: { clientSocket: string; clientTcp: string } };
      const made = ["--home", home, "tokens", "create", "interop", "--role", "client"];
      const { stdout } = await runTool(process.execPath, [paths.command, ...made]);
      gateway = {
        home,
        addresses: { tcp: addresses.clientTcp, unix: addresses.clientSocket.replace("unix:", "unix://") },
        token: stdout.trim(),
      };
    });
    afterAll(() => stop());
  }
  return () => {
    if (gateway === undefined) throw new Error("the gateway does not run");
    return gateway;
  };
}
