import { readFileSync } from "node:fs";

import type { Document } from "yaml";
import { isMap, isNode, isScalar, LineCounter, parseDocument } from "yaml";
import type { z } from "zod";

import { ConfigError } from "../configError.js";
import { knownKeys } from "./knownKeys.js";
import { nearestKey } from "./nearestKey.js";

/** A configuration file larger than this is a mistake. */
const LARGEST_FILE_BYTES = 1024 * 1024;

/**
 * Reads and checks a YAML file. A file that is missing or empty counts as an empty map.
 * @throws ConfigError for the first problem, with its line, key path and, for an unknown key, the nearest known one.
 */
export function loadYaml<Schema extends z.ZodType>(file: string, schema: Schema): z.output<Schema> {
  return parseYaml(readOrEmpty(file), file, schema);
}

/** As {@link loadYaml}, of a text that was read from `file`. */
export function parseYaml<Schema extends z.ZodType>(text: string, file: string, schema: Schema): z.output<Schema> {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const syntax = document.errors[0];
  if (syntax) throw new ConfigError({ file, line: lines.linePos(syntax.pos[0]).line, problem: syntax.message });

  const value: unknown = document.toJS() ?? {};
  const checked = schema.safeParse(value);
  if (checked.success) return checked.data;
  const issue = checked.error.issues[0];
  if (!issue) throw new ConfigError({ file, problem: "is not valid" });

  const unknown = issue.code === "unrecognized_keys" ? issue.keys[0] : undefined;
  const path = unknown === undefined ? issue.path : [...issue.path, unknown];
  const line = lineOf(document, lines, path);
  const near = unknown === undefined ? undefined : nearestKey(unknown, knownKeys(schema, issue.path));
  throw new ConfigError({
    file,
    ...(line === undefined ? {} : { line }),
    ...(path.length === 0 ? {} : { key: path.map(String).join(".") }),
    problem: unknown === undefined ? issue.message : "unknown key",
    ...(near === undefined ? {} : { hint: `did you mean ${near}?` }),
  });
}

function readOrEmpty(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT") return "";
    throw new ConfigError({ file, problem: `cannot be read: ${code ?? "unknown error"}` }, { cause: error });
  }
  if (text.length > LARGEST_FILE_BYTES) throw new ConfigError({ file, problem: "is larger than 1 MiB" });
  return text;
}

/** The line of the key at `path`, or of the nearest enclosing key that is in the file. */
function lineOf(document: Document.Parsed, lines: LineCounter, path: readonly PropertyKey[]): number | undefined {
  for (let length = path.length; length > 0; length--) {
    const parent: unknown = length === 1 ? document.contents : document.getIn(path.slice(0, length - 1), true);
    const step = path[length - 1];
    if (isMap(parent)) {
      const pair = parent.items.find((item) => isScalar(item.key) && String(item.key.value) === String(step));
      if (pair && isScalar(pair.key) && pair.key.range) return lines.linePos(pair.key.range[0]).line;
    }
    const node: unknown = document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
  }
  return undefined;
}
