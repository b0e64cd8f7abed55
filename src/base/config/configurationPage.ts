import { z } from "zod";

import { DEFAULT_BUDGETS, toSnakeCase } from "../budgets.js";
import { agentConfigSchema } from "./agentConfigSchema.js";
import { gatewayConfigSchema } from "./gatewayConfig.js";
import { unwrapSchema } from "./knownKeys.js";

/** Where the page is. */
export const CONFIGURATION_PAGE_PATH = "docs/configuration.md";

/** Files that say what settings mean, beside the schemas. */
export interface ConfigurationSources {
  /** Text of src/base/budgets.ts, whose doc comments speak of the budgets. */
  readonly budgets: string;
  /** Text of docs/agents.md, whose table speaks of the keys of an agent and is held to the schema by a test. */
  readonly agents: string;
}

/** A setting as the page shows it. */
interface Setting {
  /** Path with dots; `<name>` stands for a name of the writer's own, `[]` for each entry of a list. */
  readonly path: string;
  /** What may be written, with its bounds. */
  readonly type: string;
  /** As JSON; empty for none. */
  readonly fallback: string;
  /** The default as people say it, where that is another way; absent = it is not. */
  readonly inWords?: string;
  /** What it means; empty where the schema does not say. */
  readonly text: string;
}

/** Variables of the environment that the program reads or sets, with what they do. */
export const ENVIRONMENT_VARIABLES: Readonly<Record<string, string>> = {
  TALARIA_HOME: "The home, as `--home`; default `~/.talaria`.",
  TALARIA_ADDRESS: "The gateway that commands go to, as `--address`.",
  TALARIA_CONTEXT: "The context that commands use, as `--context`.",
  TALARIA_TOKEN: "Token for a gateway over TCP, as `--token`.",
  TALARIA_CONFIG_DIR: "Folder of the user's contexts; default `talaria` in `XDG_CONFIG_HOME`, else in `~/.config`.",
  NO_COLOR: "Any value turns colours off.",
  TALARIA_OWNER_SOCKET: "Set for workers: the path of the socket that they attach to.",
  _TALARIA_LAUNCH:
    "Set for workers and what they start: the launch that they belong to, by which the gateway finds them.",
  _TALARIA_BACKGROUND:
    "Set for background commands and what they start: the gateway does not end them with their turn. Whatever else is to stay is started with it.",
};

/** The page, in Markdown, out of the schemas and the budget table. @throws Error for a setting of which nothing is said. */
export function renderConfigurationPage(sources: ConfigurationSources): string {
  const gateway = settingsOf(gatewayConfigSchema).filter(({ path }) => !path.startsWith("budgets."));
  const agents = new Map(settingsOf(agentConfigSchema).map((setting) => [agentKey(setting.path), setting]));
  const said = agentTexts(sources.agents);
  const parts = [
    "# Configuration",
    "<!-- Written from the schemas by `npm run generate`; edit those, and docs/agents.md for what the keys of an agent mean. -->",
    "Every setting of a home. Both files are YAML; a key that is not known is refused with its line and the nearest key. " +
      "`talaria config check` names every problem, `talaria config show` shows what is in force and where it comes from. " +
      "`talaria.yaml` is read when the gateway starts, the agents' files then and at `talaria reload`.",
    "## talaria.yaml",
    "The file may be missing: every key has a default but those of a peer.",
    table(gateway),
    "## Budgets",
    "Durations are milliseconds, in the section `budgets` of `talaria.yaml`. What belongs together is checked together: " +
      "`talaria config check` says which budget is too long or too short for another.",
    table(budgets(sources.budgets)),
    "## agent.yaml",
    "One file for each agent, `agents/<name>/agent.yaml`. [agents.md](agents.md) says what belongs together, and shows an example.",
    table([...agents].map(([path, setting]) => ({ ...setting, path, text: said.get(path) ?? "" }))),
    "A **value** is a text, `{ env: NAME }` or `{ file: PATH }`. Events of hooks and what they are given: [agents.md](agents.md#hooks).",
    "## Environment",
    `| variable | what it does |\n| --- | --- |\n${Object.entries(ENVIRONMENT_VARIABLES)
      .map(([name, text]) => `| \`${name}\` | ${text} |`)
      .join("\n")}`,
    "Agents name variables of the gateway for their keys (`api_key_env`, `{ env: NAME }`); a worker sees none of the gateway's own but those.",
  ];
  return parts.join("\n\n");
}

function table(settings: readonly Setting[]): string {
  const rows = settings.map(({ path, type, fallback, inWords = "", text }) => {
    if (text === "") throw new Error(`nothing says what ${path} means`);
    const shown = [fallback === "" ? "" : `\`${fallback}\``, inWords].filter((part) => part !== "").join(", ");
    return `| \`${path}\` | ${type} | ${shown} | ${text} |`;
  });
  return `| key | what may be written | default | meaning |\n| --- | --- | --- | --- |\n${rows.join("\n")}`;
}

/** The settings of a schema that hold no further ones, in its order. A section that may be left out is a row of its own. */
function settingsOf(schema: z.ZodType, path = ""): readonly Setting[] {
  const inner = unwrapSchema(schema);
  if (inner instanceof z.ZodObject && !isSource(inner)) {
    return Object.entries(inner.shape as Record<string, z.ZodType>).flatMap(([key, value]) => {
      const at = path === "" ? key : `${path}.${key}`;
      const below = settingsOf(value, at);
      if (below.length === 0) return [leaf(value, at)];
      const text = textOf(value);
      return text === "" ? below : [{ path: at, type: "section", fallback: "", text }, ...below];
    });
  }
  if (inner instanceof z.ZodRecord) {
    const below = settingsOf(inner.valueType as z.ZodType, `${path}.<name>`);
    return below.length > 0 ? below : [leaf(inner.valueType as z.ZodType, `${path}.<name>`)];
  }
  return inner instanceof z.ZodArray ? settingsOf(inner.element as z.ZodType, `${path}[]`) : [];
}

function leaf(schema: z.ZodType, path: string): Setting {
  const fallback = schema instanceof z.ZodDefault ? JSON.stringify(schema.def.defaultValue) : "";
  return { path, type: typeOf(schema), fallback, text: textOf(schema) };
}

/** A text, a variable or a file: written in three ways, so that its keys are no settings of their own. */
function isSource(schema: z.ZodObject): boolean {
  return Object.keys(schema.shape).join() === "value,env,file";
}

/** What is said of a schema, on it or on what it wraps. */
function textOf(schema: z.ZodType): string {
  if (schema.description !== undefined) return schema.description;
  const wraps = schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault;
  return wraps ? textOf(schema.unwrap() as z.ZodType) : "";
}

/** As JSON Schema says it. */
interface JsonType {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly format?: string;
  readonly items?: JsonType;
}

function typeOf(schema: z.ZodType): string {
  const inner = unwrapSchema(schema);
  if (inner instanceof z.ZodObject && isSource(inner)) return "value";
  return wordsFor(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as JsonType);
}

function wordsFor(json: JsonType): string {
  const { type, minimum, exclusiveMinimum, maximum, maxLength, maxItems, minItems, items } = json;
  if (json.enum !== undefined) return json.enum.map((one) => `\`${one}\``).join(", ");
  switch (type) {
    case "boolean":
      return "`true` or `false`";
    case "integer":
    case "number": {
      const what = type === "integer" ? "whole number" : "number";
      const least = exclusiveMinimum === undefined ? numeral(minimum) : `more than ${String(exclusiveMinimum)}`;
      const most = numeral(maximum);
      if (exclusiveMinimum !== undefined) return `${what}, ${least}${most === "" ? "" : `, at most ${most}`}`;
      if (least === "" && most === "") return what;
      return most === "" ? `${what}, ${least} or more` : `${what}, ${least} to ${most}`;
    }
    case "array": {
      if (items?.type !== "string") throw new Error(`no words for a list of ${JSON.stringify(items)}`);
      const bounds = [
        ...(minItems === undefined || minItems === 0 ? [] : [`at least ${String(minItems)}`]),
        ...(maxItems === undefined ? [] : [`at most ${String(maxItems)}`]),
      ];
      const longest = items.maxLength === undefined ? "" : ` of at most ${numeral(items.maxLength)} characters`;
      return [`list of texts${longest}`, ...bounds].join(", ");
    }
    case "string":
      if (json.format === "uri") return "http or https address";
      return maxLength === undefined ? "text" : `text, at most ${numeral(maxLength)} characters`;
    default:
      throw new Error(`no words for ${JSON.stringify(json)}`);
  }
}

/** A bound with its thousands apart; empty for none, which safe integers stand for. */
function numeral(value: number | undefined): string {
  if (value === undefined || Math.abs(value) >= Number.MAX_SAFE_INTEGER) return "";
  return value.toLocaleString("en-US");
}

/** The budget table with what its doc comments say. */
function budgets(source: string): readonly Setting[] {
  const written = new Map(settingsOf(gatewayConfigSchema).map((setting) => [setting.path, setting]));
  return Object.entries(DEFAULT_BUDGETS).map(([name, value]: [string, number]) => {
    const path = `budgets.${toSnakeCase(name)}`;
    const [, text = ""] = new RegExp(`/\\*\\* (.+) \\*/\\n  readonly ${name}:`).exec(source) ?? [];
    const known = text.replaceAll(/`(\w+)`/g, (_match, word: string) => `\`${toSnakeCase(word)}\``);
    return {
      path,
      type: written.get(path)?.type ?? "",
      fallback: String(value),
      inWords: duration(name, value),
      text: known,
    };
  });
}

const UNITS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1_000],
] as const;

/** A duration in its largest whole unit; empty for what is none. */
function duration(name: string, value: number): string {
  const [unit, ms] = UNITS.find(([, size]) => value % size === 0) ?? [];
  if (!name.endsWith("Ms") || value === 0 || unit === undefined) return "";
  return `${String(value / ms)} ${unit}${value === ms ? "" : "s"}`;
}

/** What docs/agents.md says of each key. */
function agentTexts(page: string): ReadonlyMap<string, string> {
  const [, rest = ""] = page.split("<!-- keys -->");
  const [rows = ""] = rest.trim().split("\n\n");
  return new Map(
    rows
      .split("\n")
      .slice(2)
      .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()))
      .map(([, key = "", , text = ""]) => [key.replace(/^`(.*)`$/, "$1"), text.replace(/,? [Ss]ee below\b\.?/, "")]),
  );
}

/** The key under which docs/agents.md speaks of a path. */
function agentKey(path: string): string {
  return path.replace(/^hooks\.\w+/, "hooks.<event>");
}
