import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { createLogger, silentLogger } from "../../base/logger.js";
import { type AuditEntry, createAuditLog } from "./auditLog.js";

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "ta-"));
  onTestFinished(() => {
    rmSync(made, { recursive: true, force: true });
  });
  return made;
}

const entry = (outcome: string): AuditEntry => ({
  at: "2026-01-01T00:00:00.000Z",
  who: "client:ci",
  role: "operator",
  from: "unix",
  what: "/talaria.gateway.v1.AdminService/Drain",
  outcome,
  ms: 1,
});

test("entries are lines of JSON in a file of its owner alone, also after a restart", () => {
  const file = join(folder(), "audit.jsonl");
  for (const outcome of ["OK", "PERMISSION_DENIED"]) {
    const audit = createAuditLog(file, silentLogger());
    audit.write(entry(outcome));
    audit.close();
  }
  const lines = readFileSync(file, "utf8").trim().split("\n");
  expect(lines.map((line) => (JSON.parse(line) as AuditEntry).outcome)).toEqual(["OK", "PERMISSION_DENIED"]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("a full file is put aside, and at most four of those are kept", () => {
  const root = folder();
  const audit = createAuditLog(join(root, "audit.jsonl"), silentLogger(), 300);
  for (let number = 0; number < 20; number += 1) audit.write(entry(String(number)));
  audit.close();
  expect(readdirSync(root).sort()).toEqual(["audit.jsonl", ...[1, 2, 3, 4].map((n) => `audit.jsonl.${String(n)}`)]);
  for (const name of readdirSync(root)) expect(statSync(join(root, name)).size).toBeLessThanOrEqual(300);
  expect(readFileSync(join(root, "audit.jsonl"), "utf8")).toContain('"outcome":"19"');
});

test("a file that cannot be written is told once and costs no call", () => {
  const file = join(folder(), "audit.jsonl");
  mkdirSync(file);
  const lines: string[] = [];
  const audit = createAuditLog(file, createLogger({ destination: { write: (line) => lines.push(line) } }));
  audit.write(entry("OK"));
  audit.write(entry("OK"));
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain("the audit log cannot be written");
});
