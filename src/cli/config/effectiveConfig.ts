import { existsSync, readFileSync } from "node:fs";

import { isMap, isScalar, LineCounter, parseDocument } from "yaml";
import type { Node } from "yaml";

import { DEFAULT_BUDGETS, toSnakeCase } from "../../base/budgets.js";
import { gatewayConfigSchema, resolveGatewayConfig } from "../../base/config/gatewayConfig.js";
import { loadYaml } from "../../base/config/loadYaml.js";
import { type Machine, thisMachine } from "../../base/config/machine.js";

/** One setting that is in force. */
export interface EffectiveSetting {
  /** Its key as a file spells it, with dots. */
  readonly key: string;
  readonly value: unknown;
  /** Where it comes from: `<file>:<line>`, `default`, or `this machine`. */
  readonly source: string;
}

/** Every setting of a home's `talaria.yaml` that is in force, and where it comes from. @throws ConfigError. */
export function effectiveConfig(file: string, machine: Machine = thisMachine()): readonly EffectiveSetting[] {
  const written = loadYaml(file, gatewayConfigSchema);
  const config = resolveGatewayConfig(written, machine);
  const lines = linesOf(file);
  const values: Record<string, unknown> = {
    ...written,
    name: config.name,
    workers: { ...written.workers, max: config.workers.max },
    budgets: Object.fromEntries(
      Object.keys(DEFAULT_BUDGETS).map((key) => [
        toSnakeCase(key),
        config.budgets[key as keyof typeof DEFAULT_BUDGETS],
      ]),
    ),
  };
  const machines = new Set(["name", "workers.max"]);
  return flatten(values, "").map(([key, value]) => {
    const line = lines.get(key);
    if (line !== undefined) return { key, value, source: `${file}:${String(line)}` };
    return { key, value, source: machines.has(key) ? "this machine" : "default" };
  });
}

function flatten(value: Readonly<Record<string, unknown>>, prefix: string): readonly (readonly [string, unknown])[] {
  return Object.entries(value).flatMap(([name, one]) => {
    const key = prefix === "" ? name : `${prefix}.${name}`;
    if (one === undefined) return [];
    const map = typeof one === "object" && one !== null && !Array.isArray(one);
    return map ? flatten(one as Record<string, unknown>, key) : [[key, one] as const];
  });
}

/** The line of each key of a YAML file, by its path with dots. */
function linesOf(file: string): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  if (!existsSync(file)) return found;
  const counter = new LineCounter();
  const walk = (node: Node | null, prefix: string): void => {
    if (!isMap(node)) return;
    for (const { key, value } of node.items) {
      if (!isScalar(key) || !key.range) continue;
      const path = prefix === "" ? String(key.value) : `${prefix}.${String(key.value)}`;
      found.set(path, counter.linePos(key.range[0]).line);
      walk(value as Node | null, path);
    }
  };
  walk(parseDocument(readFileSync(file, "utf8"), { lineCounter: counter }).contents, "");
  return found;
}
