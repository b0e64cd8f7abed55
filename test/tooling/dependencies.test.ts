import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

interface Manifest {
  dependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
  devDependencies: Record<string, string>;
}

const manifest = JSON.parse(readFileSync("package.json", "utf8")) as Manifest;
const pins = Object.entries({
  ...manifest.dependencies,
  ...manifest.optionalDependencies,
  ...manifest.devDependencies,
});
const page = readFileSync("docs/dependencies.md", "utf8");

/** The first three cells of every table row above the vendored files: package, pin, licence. */
const rows = page
  .slice(0, page.indexOf("## Vendored"))
  .split("\n")
  .map((line) => line.split("|").slice(1, 4))
  .filter((cells) => /\d/.test(cells[1] ?? ""))
  .map((cells) => cells.map((cell) => cell.trim()).join(" "));

it("pins every dependency to one exact version", () => {
  expect(pins.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
});

it("explains each dependency, and nothing else, at its pin and with the licence its package states", () => {
  const expected = pins.map(([name, version]) => {
    const installed = JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8")) as { license: string };
    return `${name} ${version} ${installed.license.replace(/[()]/g, "")}`;
  });
  expect(rows.sort()).toEqual(expected.sort());
});
