import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";

import { openPlaceFile } from "./placeFile.js";

const NOWHERE = { storeId: "", hubStoreId: "", sequence: 0, connection: 0 };
let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "place-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

test("a place outlives its process, in a file that is the user's alone", () => {
  const path = join(folder, "relay", "hub.json");
  expect(openPlaceFile(path).read()).toEqual(NOWHERE);
  openPlaceFile(path).write({ storeId: "s", sequence: 7 });
  openPlaceFile(path).write({ hubStoreId: "h", connection: 9 });
  expect(openPlaceFile(path).read()).toEqual({ storeId: "s", hubStoreId: "h", sequence: 7, connection: 9 });
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test.each(["", "{", '{"storeId":1,"sequence":0}', '{"storeId":"s","sequence":-1}', "null"])(
  "a file with %j is nowhere: everything is sent again",
  (text) => {
    const path = join(folder, "hub.json");
    writeFileSync(path, text);
    expect(openPlaceFile(path).read()).toEqual(NOWHERE);
  },
);

test("a file of an earlier release is read, and one that cannot be written is no failure", () => {
  const path = join(folder, "hub.json");
  writeFileSync(path, '{"storeId":"s","sequence":7}');
  expect(openPlaceFile(path).read()).toEqual({ ...NOWHERE, storeId: "s", sequence: 7 });
  const nowhere = openPlaceFile(join(path, "below-a-file.json"));
  nowhere.write({ sequence: 8 });
  expect(nowhere.read().sequence).toBe(8);
});
