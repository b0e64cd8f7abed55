import type { SecretSource } from "../../base/config/agentConfig.js";
import { type PlainFile, readPlainFile } from "../../base/readPlainFile.js";
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
  let file: PlainFile;
  try {
    file = readPlainFile(path, LARGEST_SECRET_BYTES);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? "unknown error";
    throw new RpcError("RUNTIME_CONFIG", { message: `${what} cannot be read from ${path}: ${code}.`, cause });
  }
  const unusable = (why: string): RpcError =>
    new RpcError("RUNTIME_CONFIG", { message: `${what} cannot be had: ${path} ${why}.` });
  switch (file.kind) {
    case "strange":
      throw unusable("is no regular file");
    case "large":
      throw unusable("is larger than 64 KiB");
    case "read": {
      // Some editors begin a file with a mark that is no part of what was typed.
      const text = file.bytes
        .toString("utf8")
        .replace(/^\uFEFF/, "")
        .trimEnd();
      if (text === "") throw unusable("is empty");
      return text;
    }
  }
}
