import type { Document } from "yaml";
import { isMap, isNode, isScalar, LineCounter, parseDocument } from "yaml";
import type { z } from "zod";

import { ConfigError } from "../configError.js";
import { type PlainFile, readPlainFile } from "../readPlainFile.js";
import { knownKeys } from "./knownKeys.js";
import { nearestKey } from "./nearestKey.js";

/** A configuration file larger than this is a mistake. */
const LARGEST_FILE_BYTES = 1024 * 1024;
/** Most problems that are named of one file. */
const MOST_PROBLEMS = 50;
const UNKNOWN_KEY = "unknown key";

/** A file that was read and checked. */
export type YamlResult<Value> =
  | {
      readonly kind: "valid";
      readonly value: Value;
      /** The line of a key of the whole, from 1; undefined where the file does not have it. */
      readonly lineOf: (key: string) => number | undefined;
    }
  /** `raw` is what the file holds all the same; undefined where it is no YAML. `problems` begin with the keys that are unknown, each kind in the order of lines. */
  | { readonly kind: "invalid"; readonly raw: unknown; readonly problems: readonly [ConfigError, ...ConfigError[]] };

/**
 * Reads and checks a YAML file. A file that is missing or empty counts as an empty map.
 * @throws ConfigError for the first problem, with its line, key path and, for an unknown key, the nearest known one.
 */
export function loadYaml<Schema extends z.ZodType>(file: string, schema: Schema): z.output<Schema> {
  return parseYaml(readOrEmpty(file), file, schema);
}

/** As {@link loadYaml}, of a text that was read from `file`. */
export function parseYaml<Schema extends z.ZodType>(text: string, file: string, schema: Schema): z.output<Schema> {
  const result = checkYaml(text, file, schema);
  if (result.kind === "valid") return result.value;
  throw result.problems[0];
}

/** Reads and checks a YAML file as {@link loadYaml} does, and names every problem. */
export function checkYamlFile<Schema extends z.ZodType>(file: string, schema: Schema): YamlResult<z.output<Schema>> {
  try {
    return checkYaml(readOrEmpty(file), file, schema);
  } catch (error) {
    if (error instanceof ConfigError) return { kind: "invalid", raw: undefined, problems: [error] };
    throw error;
  }
}

/** As {@link checkYamlFile}, of a text that was read from `file`. */
export function checkYaml<Schema extends z.ZodType>(
  text: string,
  file: string,
  schema: Schema,
): YamlResult<z.output<Schema>> {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const [first, ...more] = document.errors.map(
    (error) => new ConfigError({ file, line: lines.linePos(error.pos[0]).line, problem: error.message }),
  );
  if (first !== undefined)
    return { kind: "invalid", raw: undefined, problems: [first, ...more.slice(0, MOST_PROBLEMS)] };

  let raw: unknown;
  try {
    raw = document.toJS() ?? {};
  } catch (error) {
    // Aliases that stand for nothing, or that would multiply without end.
    const problem = error instanceof Error ? error.message : String(error);
    return { kind: "invalid", raw: undefined, problems: [new ConfigError({ file, problem }, { cause: error })] };
  }
  const checked = schema.safeParse(raw);
  if (checked.success) {
    return { kind: "valid", value: checked.data, lineOf: (key) => lineOf(document, lines, [key]) };
  }
  const found = checked.error.issues
    .flatMap((issue) => problemsOf(issue, raw, schema))
    .map(({ path, problem, hint }) => {
      const line = lineOf(document, lines, path);
      return new ConfigError({
        file,
        ...(line === undefined ? {} : { line }),
        ...(path.length === 0 ? {} : { key: path.map(String).join(".") }),
        problem,
        ...(hint === undefined ? {} : { hint }),
      });
    })
    .slice(0, MOST_PROBLEMS)
    .sort((a, b) => rankOf(a) - rankOf(b) || (a.line ?? 0) - (b.line ?? 0));
  const [head = new ConfigError({ file, problem: "is not valid" }), ...rest] = found;
  return { kind: "invalid", raw, problems: [head, ...rest] };
}

/** A misspelt key is often why another is missed. */
function rankOf({ problem }: ConfigError): number {
  return problem === UNKNOWN_KEY ? 0 : 1;
}

interface Found {
  readonly path: readonly PropertyKey[];
  readonly problem: string;
  readonly hint?: string;
}

function problemsOf(issue: z.core.$ZodIssue, raw: unknown, schema: z.ZodType): readonly Found[] {
  const { path } = issue;
  if (issue.code === "unrecognized_keys") {
    const known = knownKeys(schema, path);
    return issue.keys.map((key) => ({ path: [...path, key], problem: UNKNOWN_KEY, ...didYouMean(key, known) }));
  }
  // The key of a record: its own rule says what is wrong with it.
  if (issue.code === "invalid_key") return [{ path, problem: issue.issues[0]?.message ?? issue.message }];
  const given = path.reduce<unknown>((at, step) => (at as Record<PropertyKey, unknown> | undefined)?.[step], raw);
  const missing = given === undefined && issue.code !== "custom";
  if (issue.code === "invalid_type" && !missing) return [{ path, problem: `must be ${kindOf(issue.expected)}` }];
  if (issue.code !== "invalid_value") return [{ path, problem: missing ? "is required" : issue.message }];
  const near = typeof given === "string" ? didYouMean(given, issue.values.map(String)) : {};
  const choice = `must be ${issue.values
    .map(String)
    .join(", ")
    .replace(/, ([^,]*)$/, " or $1")}`;
  return [{ path, problem: missing ? `is required: ${choice}` : choice, ...near }];
}

/** What a kind of value is called, by zod's name for it. */
const KINDS: Readonly<Record<string, string | undefined>> = {
  int: "a whole number",
  number: "a number",
  string: "a text",
  boolean: "true or false",
  array: "a list",
  object: "a section with keys of its own",
  record: "a section with keys of its own",
};

function kindOf(expected: string): string {
  return KINDS[expected] ?? expected;
}

function didYouMean(typed: string, known: readonly string[]): { readonly hint?: string } {
  const near = nearestKey(typed, known);
  return near === undefined ? {} : { hint: `did you mean ${near}?` };
}

function readOrEmpty(file: string): string {
  let found: PlainFile;
  try {
    found = readPlainFile(file, LARGEST_FILE_BYTES);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT") return "";
    const hint = "check that path, and who may read it";
    throw new ConfigError({ file, problem: `cannot be read: ${code ?? "unknown error"}`, hint }, { cause: error });
  }
  if (found.kind === "read") return found.bytes.toString("utf8");
  throw new ConfigError({ file, problem: found.kind === "large" ? "is larger than 1 MiB" : "is no regular file" });
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
