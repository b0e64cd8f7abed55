import fc from "fast-check";
import { expect, test } from "vitest";

import { visible } from "../render/visible.js";
import { layout } from "./layout.js";

test("columns are aligned, and go from the right where there is no room", () => {
  const head = ["AGENT", "STATE", "EXECUTION"];
  const rows = [
    ["main", "running", "exe_0123456789"],
    ["longer-name", "idle", ""],
  ];
  expect(layout(head, rows, 80)).toEqual([
    "AGENT        STATE    EXECUTION",
    "main         running  exe_0123456789",
    "longer-name  idle",
  ]);
  expect(layout(head, rows, 28)).toEqual(
    ["AGENT        STATE    EXECUT…", "main         running  exe_0…", "longer-name  idle"].map((line) =>
      visible(line, 28),
    ),
  );
  expect(layout(head, rows, 21)[1]).toBe("main         running");
  expect(layout(head, rows, 8)[2]).toBe("longer-…");
});

test("no line is wider than the screen, and the first column always stays", () => {
  const cell = fc.string({ maxLength: 40 });
  const tables = fc
    .integer({ min: 1, max: 6 })
    .chain((columns) =>
      fc.tuple(
        fc.array(cell, { minLength: columns, maxLength: columns }),
        fc.array(fc.array(cell, { minLength: columns, maxLength: columns }), { maxLength: 5 }),
      ),
    );
  fc.assert(
    fc.property(tables, fc.integer({ min: 10, max: 120 }), ([head, rows], width) => {
      const lines = layout(head, rows, width);
      expect(lines).toHaveLength(rows.length + 1);
      for (const line of lines) expect(Array.from(line).length).toBeLessThanOrEqual(width);
    }),
  );
});
