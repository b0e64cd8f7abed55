import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";

import { descendantsOf, isSameProcess } from "../../src/base/processTable.js";
import { begin, serve, talaria, temporaryHome } from "./useTalaria.js";

test("SIGTERM drains: the running turn ends, then nothing is left", async () => {
  const gateway = await serve();
  const turn = begin("--home", gateway.home, "--json", "run", "main", "!sleep 1500\nDone sleeping");
  for await (const line of createInterface({ input: turn.child.stdout }))
    if (line.includes("TURN_PHASE_RUNNING")) break;
  const family = descendantsOf(gateway.pid);
  expect(family.length).toBeGreaterThan(0);
  gateway.signal("SIGTERM");
  expect(await gateway.ended).toMatchObject({ code: 0 });
  expect((await turn.ended).code).toBe(0);
  expect(family.filter((facts) => isSameProcess(facts))).toEqual([]);
  expect(readdirSync(join(gateway.home, "run"))).toEqual([]);
});

test("a second signal ends it at once", async () => {
  const gateway = await serve();
  const turn = begin("--home", gateway.home, "--json", "run", "main", "!sleep 600000");
  for await (const line of createInterface({ input: turn.child.stdout }))
    if (line.includes("TURN_PHASE_RUNNING")) break;
  const family = descendantsOf(gateway.pid);
  const draining = gateway.logged('"draining"');
  gateway.signal("SIGINT");
  await draining;
  gateway.signal("SIGINT");
  expect((await gateway.ended).code).toBe(130);
  await turn.ended;
  expect(family.filter((facts) => isSameProcess(facts))).toEqual([]);
});

test("a second gateway on the home is refused with the first one's process", async () => {
  const gateway = await serve();
  const second = await talaria("--home", gateway.home, "serve");
  expect(second).toMatchObject({ code: 76, stdout: "" });
  expect(second.stderr).toContain("HOME_LOCKED");
  expect(second.stderr).toContain(String(gateway.pid));
  expect((await talaria("--home", gateway.home, "status")).code).toBe(0);
});

test("a malformed configuration names file, line and key and leaves no trace", async () => {
  const home = temporaryHome("name: west\nlisteners:\n  clint_tcp: {}\n");
  const ended = await talaria("--home", home, "serve");
  expect(ended.code).toBe(78);
  expect(ended.stderr).toMatch(/^CONFIG_INVALID: .*talaria\.yaml:3\b.*clint_tcp/);
  expect(ended.stderr).toContain("client_tcp");
  expect(readdirSync(home)).toEqual(["talaria.yaml"]);
});

test("a socket path over 100 bytes names the setting", async () => {
  const home = join(temporaryHome(), "h".repeat(90));
  const ended = await talaria("--home", home, "serve");
  expect(ended.code).toBe(78);
  expect(ended.stderr).toMatch(/^SOCKET_PATH_TOO_LONG: .*\n.*run_dir/);
  expect(existsSync(home)).toBe(false);
});
