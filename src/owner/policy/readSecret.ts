import { readFileSync } from "node:fs";

import type { SecretSource } from "../../base/config/agentConfig.js";
import { RpcError } from "../../rpc/rpcError.js";

/** A credential larger than this is a mistake, bytes. */
const LARGEST_SECRET_BYTES = 65_536;

/**
 * Reads a value where the configuration says that it is kept.
 * @param what names the value for people, such as `The API key of main`.
 * @throws RpcError RUNTIME_CONFIG where it cannot be had.
 */
export function readSecret(
  source: SecretSource,
  environment: Readonly<Record<string, string | undefined>>,
  what: string,
): string {
  switch (source.kind) {
    case "value":
      return source.value;
    case "env": {
      const value = environment[source.name];
      if (value !== undefined && value !== "") return value;
      throw new RpcError("RUNTIME_CONFIG", {
        message: `${what} cannot be had: the variable ${source.name} is not set.`,
      });
    }
    case "file":
      return readFile(source.path, what);
  }
}

function readFile(path: string, what: string): string {
  let text: string;
  try {
    text = readFileSync(path, "utf8").trimEnd();
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? "unknown error";
    throw new RpcError("RUNTIME_CONFIG", { message: `${what} cannot be read from ${path}: ${code}.`, cause });
  }
  if (text === "") throw new RpcError("RUNTIME_CONFIG", { message: `${what} cannot be had: ${path} is empty.` });
  if (text.length <= LARGEST_SECRET_BYTES) return text;
  throw new RpcError("RUNTIME_CONFIG", { message: `${what} cannot be had: ${path} is larger than 64 KiB.` });
}
