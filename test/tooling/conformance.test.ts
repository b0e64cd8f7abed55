import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

/** The first two cells of every table row of a page that begins with an id: the id, and what else the row says. */
function rowsOf(page: string): Map<string, string> {
  const rows = new Map<string, string>();
  for (const line of readFileSync(page, "utf8").split("\n")) {
    const [, id, ...rest] = line.split("|").map((cell) => cell.trim());
    if (id === undefined || !/^(OW\d\d|OW-R\d+|DM\d{3}|DM-R\d\d|F\d+|[A-Z][A-Z0-9]-\d+)$/.test(id)) continue;
    if (rows.has(id)) throw new Error(`${page} has two rows for ${id}`);
    rows.set(id, rest.join(" | "));
  }
  return rows;
}

/** A title, behind `test(`, `it(` or the table of an `each`. A test that is skipped by its name has none. */
const TITLE = /(?:\b(?:test|it)|\))\(\s*(["'`])((?:\\.|(?!\1).)*)\1/g;

/** The first cell of a row of an `each`, where it begins with an id: its test's title begins with it. */
const ROW = /^\s*\[\s*(["'`])((?:OW\d\d|OW-R\d+|DM\d{3}|DM-R\d\d|F\d+|[A-Z][A-Z0-9]-\d+) (?:\\.|(?!\1).)*)\1/gm;

/** The titles of every test file. */
function readTitles(folder: string): [string, string[]][] {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".test.ts"));
  return files.map((name) => {
    const file = join(folder, name);
    const text = readFileSync(file, "utf8");
    return [file, [...text.matchAll(TITLE), ...text.matchAll(ROW)].map(([, , title]) => title ?? "")];
  });
}

const titles = new Map(["src", "test"].flatMap(readTitles));
/** The ids that titles begin with. */
const tested = new Set(
  [...titles.values()].flat().flatMap((title) => {
    const words = title.split(" ");
    const end = words.findIndex((word) => !/^[A-Z]+[A-Z0-9-]*\d+$/.test(word));
    return end === -1 ? words : words.slice(0, end);
  }),
);
const range = (prefix: string, last: number, width: number): string[] =>
  Array.from({ length: last }, (_, index) => prefix + String(index + 1).padStart(width, "0"));

const conformance = rowsOf("docs/conformance.md");
const messages = rowsOf("docs/conformance-messages.md");
const faults = rowsOf("docs/faults.md");
/** The scenarios and reports; numbers that are missing belong to none. */
const REPLAYED = [
  ...[
    1, 2, 3, 4, 5, 7, 8, 9, 11, 14, 15, 16, 17, 18, 19, 21, 23, 24, 26, 27, 28, 29, 30, 31, 32, 33, 34, 38, 40, 41, 42,
    43, 44, 48,
  ].map((number) => `OW-R${String(number)}`),
  ...[
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 18, 19, 20, 21, 22, 23, 24, 26, 27, 28, 30, 31, 33, 35, 36, 39, 40,
    41, 42, 43, 44, 45, 47, 48,
  ].map((number) => `DM-R${String(number).padStart(2, "0")}`),
  ...Object.entries({
    AG: [2, 3, 5, 6],
    SL: [2, 4, 5, 7, 8],
    A2: [1, 2, 5, 7, 8],
    OC: [1, 3, 5, 7, 9, 10, 11, 12, 13, 14, 16, 19, 20, 21],
    AR: [2, 4, 5, 7],
    SY: [1, 3, 4, 5, 6, 8],
    DA: [2, 3, 5, 6],
    TE: [2, 4, 5],
    LG: [3, 5],
    LE: [1, 3, 4],
    MF: [1, 2, 3, 4, 5, 6, 7],
    AD: [1, 2, 3, 4, 5, 6],
  }).flatMap(([project, numbers]) => numbers.map((number) => `${project}-${String(number)}`)),
];
const SHOWN = ["tested", "differs"];
const SILENT = ["untested", "not applicable", "not yet"];

it("gives every behaviour and every fault one row", () => {
  expect([...conformance.keys()].filter((id) => /^OW\d/.test(id))).toEqual(range("OW", 59, 2));
  expect([...messages.keys()].filter((id) => /^DM\d/.test(id))).toEqual(range("DM", 115, 3));
  expect([...faults.keys()]).toEqual(range("F", 35, 0));
});

it("gives every scenario and report one row, and shows each that applies in test/replay", () => {
  const rows = new Map([...conformance, ...messages].filter(([id]) => !/^(OW|DM)\d/.test(id)));
  expect([...rows.keys()].sort()).toEqual([...REPLAYED].sort());
  const replays = new Set(
    [...titles]
      .flatMap(([file, all]) => (file.startsWith("test/replay/") ? all : []))
      .flatMap((title) => title.split(" ")),
  );
  const shown = [...rows].filter(([, text]) => /^(tested|differs)/.test(text)).map(([id]) => id);
  expect(shown.filter((id) => !replays.has(id))).toEqual([]);
});

it("has a row for every id of theirs that a title begins with", () => {
  const known = new Set([...conformance.keys(), ...messages.keys(), ...faults.keys()]);
  expect([...tested].filter((id) => /^(OW-?R?|DM-?R?|F)\d+$/.test(id) && !known.has(id))).toEqual([]);
});

describe.each([
  ["docs/conformance.md", conformance],
  ["docs/conformance-messages.md", messages],
  ["docs/faults.md", faults],
])("%s", (_page, rows) => {
  it("marks each row, and those that say tested are in a test's title", () => {
    const mark = (text: string): string => text.split(" | ")[0] ?? "";
    const wrong = [...rows].filter(([, text]) => ![...SHOWN, ...SILENT].includes(mark(text)));
    expect(wrong.map(([id]) => id)).toEqual([]);
    const named = [...rows].filter(([, text]) => SHOWN.includes(mark(text))).map(([id]) => id);
    expect(named.filter((id) => !tested.has(id))).toEqual([]);
    const silent = [...rows].filter(([, text]) => SILENT.includes(mark(text)));
    expect(silent.map(([id]) => id).filter((id) => tested.has(id))).toEqual([]);
  });

  it("names for each tested row a file with a title that begins with its id", () => {
    const wrong = [...rows].filter(([id, text]) => {
      const named = [...text.matchAll(/`((?:src|test)\/[^`]+\.test\.ts)`/g)].map(([, file]) => file ?? "");
      if (/^(tested|differs)/.test(text) && named.length === 0) return true;
      return named.some((file) => !(titles.get(file) ?? []).some((title) => title.split(" ").includes(id)));
    });
    expect(wrong.map(([id]) => id)).toEqual([]);
  });
});
