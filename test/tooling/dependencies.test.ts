import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

interface Manifest {
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
}

const manifest = JSON.parse(readFileSync("package.json", "utf8")) as Manifest;
const pins = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });
const page = readFileSync("docs/dependencies.md", "utf8");

it("pins every dependency to one exact version", () => {
  expect(pins.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
});

it("explains every dependency at its pin, with the licence its package states", () => {
  const missing = pins.filter(([name, version]) => {
    const installed = JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8")) as { license: string };
    const licence = installed.license.replace(/[()]/g, "");
    return !page.includes(`| ${name} | ${version} | ${licence} |`);
  });
  expect(missing).toEqual([]);
});

it("explains nothing that is not a dependency", () => {
  const tables = page.slice(0, page.indexOf("## Vendored"));
  const explained = [...tables.matchAll(/^\| (\S+) \| \d/gm)].map((row) => row[1]);
  expect(explained.sort()).toEqual(pins.map(([name]) => name).sort());
});
