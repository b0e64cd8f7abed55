import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { waitFor } from "../kit/waitFor.js";
import { serve, talaria, temporaryHome } from "./useTalaria.js";

const config = (name: string): string => `name: ${name}\nlisteners: { peers: { host: 127.0.0.1, port: 0 } }\n`;

async function two() {
  const [north, south] = await Promise.all([
    serve(temporaryHome(config("north"))),
    serve(temporaryHome(config("south"))),
  ]);
  const at =
    (home: string) =>
    (...args: readonly string[]) =>
      talaria("--home", home, ...args);
  return { north: at(north.home), south: at(south.home) };
}

test("DM103 two gateways pair by an invite, exchange messages, and part by a revocation", async () => {
  const { north, south } = await two();
  const invited = await north("peers", "invite");
  expect(invited.code).toBe(0);
  const code = invited.stdout.trim();
  expect(code).toMatch(/^tal1\.\S+$/);
  const joined = await south("peer", "join", code, "--name", "hq");
  expect(joined).toMatchObject({ code: 0, stderr: "" });
  expect(joined.stdout).toMatch(/^hq 127\.0\.0\.1:\d+ sha256:\S+\n$/);

  expect(await south("dm", "send", "hq", "Ping", "--wait")).toMatchObject({ code: 0, stdout: "Ping\n" });
  expect(await north("dm", "send", "south/main", "Pong", "--wait")).toMatchObject({ code: 0, stdout: "Pong\n" });
  expect((await north("peers")).stdout).toMatch(/^south +127\.0\.0\.1:\d+ +up +all +(?:\S+ +)?20\S+ \S+$/m);

  expect((await north("peers", "update", "south", "--agent", "helper")).code).toBe(0);
  const refused = await south("dm", "send", "hq", "Again", "--wait");
  expect(refused.code).toBe(66);
  expect(refused.stderr).toContain("UNKNOWN_TARGET");

  expect((await north("peers", "revoke", "south")).stdout).toMatch(/^south is revoked; connections cut: [1-9]/);
  expect((await north("dm", "send", "south", "Bye")).code).toBe(66);
  expect((await north("peers", "revoke", "nobody")).code).toBe(66);
  const again = await talaria("--home", temporaryHome(), "peers");
  expect(again.code).toBe(69);
});

test("DM-R33 an agent of a peer is reached by the friendly name that its roster shows", async () => {
  const home = temporaryHome(config("north"));
  for (const [name, more] of [
    ["main", "main: true\n"],
    ["scribe", "title: Night Scribe\n"],
  ] as const) {
    mkdirSync(join(home, "agents", name), { recursive: true });
    writeFileSync(join(home, "agents", name, "agent.yaml"), `runtime: echo\n${more}`);
  }
  const [{ home: north }, { home: south }] = await Promise.all([serve(home), serve(temporaryHome(config("south")))]);
  const code = (await talaria("--home", north, "peers", "invite")).stdout.trim();
  expect((await talaria("--home", south, "peers", "join", code)).code).toBe(0);
  await waitFor("the roster is read", async () => {
    const { stdout } = await talaria("--home", south, "peers");
    return stdout.includes("scribe") ? { found: true } : { state: stdout };
  });
  const at = (target: string) => talaria("--home", south, "--json", "dm", "send", target, "Evening", "--wait");
  for (const target of ["north/night-scribe", "north/Night Scribe"]) {
    const sent = await at(target);
    expect(sent).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(sent.stdout)).toMatchObject({ recipient: { gateway: "north", agent: "scribe" } });
  }
  expect((await at("north/Day Scribe")).code).toBe(66);
});

test("a used, a mistyped and a stranger's text are told apart", async () => {
  const { north, south } = await two();
  const code = (await north("peers", "invite", "--name", "friend")).stdout.trim();
  expect((await south("peers", "join", code)).code).toBe(0);
  const third = await serve(temporaryHome(config("west")));
  const used = await talaria("--home", third.home, "peers", "join", code);
  expect([used.code, used.stderr.split(":")[0]]).toEqual([77, "INVITE_EXPIRED"]);
  const mistyped = await south("peers", "join", `${code.slice(0, -1)}${code.endsWith("A") ? "B" : "A"}`);
  expect(mistyped.stderr).toContain("damaged");
  expect((await south("peers", "join", "hello")).stderr).toContain("not an invite");
});

test("a held destination shows who, when and why, and keeps its mail until it is released", async () => {
  const { north, south } = await two();
  await south("peers", "join", (await north("peers", "invite")).stdout.trim());
  expect((await south("destinations", "hold", "north", "being", "moved")).code).toBe(0);
  const sent = await south("--json", "dm", "send", "north", "Wait");
  const { deliveryId } = JSON.parse(sent.stdout) as { deliveryId: string };
  expect((await south("destinations")).stdout).toMatch(
    /^north +1 +0 +closed +by client:socket since 20\S+ \S+: being moved$/m,
  );
  expect((await south("dm", "show", deliveryId)).stdout).toMatch(/^state +queued$/m);
  const spare = await south("--json", "dm", "send", "north", "Never mind");
  const { deliveryId: withdrawn } = JSON.parse(spare.stdout) as { deliveryId: string };
  expect((await south("dm", "cancel", withdrawn)).stdout).toBe(`${withdrawn} cancelled\n`);
  expect((await south("dm", "redrive", withdrawn)).stderr).toContain("DELIVERY_NOT_DEAD");
  expect((await south("destinations", "release", "north")).stdout).not.toContain("being moved");
  expect((await south("dm", "watch", deliveryId)).stdout).toContain("replied: Wait");
  expect((await south("destinations", "hold", "nowhere", "x")).code).toBe(66);
});
