import { status } from "@grpc/grpc-js";
import { describe, expect, test } from "vitest";
import { generalReasons } from "./reasons/generalReasons.js";
import { messageReasons } from "./reasons/messageReasons.js";
import { turnReasons } from "./reasons/turnReasons.js";
import { workerReasons } from "./reasons/workerReasons.js";
import { reasonNumber } from "./reasonNumber.js";
import { isReason, reasonEntry, reasonOfNumber, reasons, type Reason } from "./reasons.js";

const names = Object.keys(reasons) as Reason[];

describe("the registry", () => {
  test("uses each number and name once", () => {
    const numbers = names.map((name) => reasonEntry(name).number);
    expect(new Set(numbers).size).toBe(numbers.length);
    const groups = [generalReasons, turnReasons, workerReasons, messageReasons];
    expect(groups.reduce((sum, group) => sum + Object.keys(group).length, 0)).toBe(names.length);
  });

  test.each(names)("%s is complete", (name) => {
    const entry = reasonEntry(name);
    expect(name).toMatch(/^[A-Z][A-Z_]*[A-Z8]$/);
    expect(entry.number).toBeGreaterThan(0);
    expect(status[entry.code]).toBeGreaterThan(0);
    expect(entry.message).toMatch(/^[A-Z].*\.$/);
    expect(entry.hint).toMatch(/^[A-Z].*[.>]$/);
    expect(reasonOfNumber(entry.number)).toBe(name);
    expect(reasonNumber(name)).toBe(entry.number);
  });

  test("knows nothing else", () => {
    expect(isReason("toString")).toBe(false);
    expect(reasonOfNumber(0)).toBeUndefined();
  });
});
