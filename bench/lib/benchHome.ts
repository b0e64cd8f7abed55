import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A fresh home with a short path, for sockets. */
export function makeHome(config: Readonly<Record<string, unknown>>, agents: readonly string[] = ["main"]): string {
  const home = mkdtempSync(join(tmpdir(), "tb-"));
  agents.forEach((name, index) => {
    const folder = join(home, "agents", name);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, "agent.yaml"), `description: ${name}\nruntime: echo\nmain: ${String(index === 0)}\n`);
  });
  writeConfig(home, config);
  return home;
}

/** Writes a home's configuration. JSON is YAML. */
export function writeConfig(home: string, config: Readonly<Record<string, unknown>>): void {
  writeFileSync(join(home, "talaria.yaml"), JSON.stringify({ log_level: "warn", ...config }));
}

/** A home with the content of another one that nobody serves. */
export function copyHome(template: string): string {
  const home = mkdtempSync(join(tmpdir(), "tb-"));
  cpSync(template, home, { recursive: true });
  return home;
}

/** Removes a home. */
export function removeHome(home: string): void {
  rmSync(home, { recursive: true, force: true });
}
