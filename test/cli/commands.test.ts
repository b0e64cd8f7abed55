import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { noSurroundings, serve, talaria, talariaCommand, talariaWith, temporaryHome } from "./useTalaria.js";

test("without a gateway it says how to start one", async () => {
  const home = temporaryHome();
  const ended = await talaria("--home", home, "status");
  expect(ended).toMatchObject({ code: 69, stdout: "" });
  expect(ended.stderr).toBe(
    `UNAVAILABLE: No gateway runs on ${home}.\n  Start it with: talaria serve --home ${home}\n`,
  );
});

test("an unknown command names the nearest, an unknown option ends with the usage code", async () => {
  const unknown = await talaria("statsu");
  expect(unknown.code).toBe(64);
  expect(unknown.stderr).toContain("status");
  expect((await talaria("status", "--nope")).code).toBe(64);
});

test("every command has help with an example", async () => {
  const { code, stdout } = await talaria("run", "--help");
  expect(code).toBe(0);
  expect(stdout).toContain('$ talaria run main "Say hello"');
});

test("a turn, piped, prints the answer alone", async () => {
  const { home } = await serve();
  const ended = await talaria("--home", home, "run", "main", "Hello", "there");
  expect(ended).toMatchObject({ code: 0, stdout: "Hello there\n", stderr: "" });
});

test("a turn that fails ends with its reason, its hint and its exit code", async () => {
  const { home } = await serve();
  const ended = await talaria("--home", home, "run", "main", "!fail PROVIDER_QUOTA The month is used up.");
  expect(ended.code).toBe(75);
  expect(ended.stderr).toMatch(/^PROVIDER_QUOTA: The month is used up\.\n {2}\S/);
});

test("an unknown agent is named, and as JSON where that is asked for", async () => {
  const { home } = await serve();
  const ended = await talaria("--home", home, "--json", "run", "nobody", "Hello");
  expect(ended.code).toBe(66);
  expect(JSON.parse(ended.stderr)).toMatchObject({ error: { reason: "UNKNOWN_AGENT" } });
  expect(ended.stderr).toContain("nobody");
});

test("a request id repeats a turn: it runs once", async () => {
  const { home } = await serve();
  const run = ["--home", home, "run", "main", "once", "--request-id", "key-1"];
  expect((await talaria(...run)).stdout).toBe("once\n");
  expect((await talaria(...run)).stdout).toBe("once\n");
  const { stdout } = await talaria("--home", home, "--json", "status");
  expect((JSON.parse(stdout) as { turns: { admitted: string } }).turns.admitted).toBe("1");
});

test("DM-R48 a message is sent, answered, shown, listed and watched", async () => {
  const { home } = await serve();
  const at = ["--home", home];
  expect(await talaria(...at, "dm", "send", "main", "Ping", "--wait")).toMatchObject({ code: 0, stdout: "Ping\n" });
  const listed = await talaria(...at, "--json", "dm", "list");
  const [{ deliveryId }] = JSON.parse(listed.stdout) as [{ deliveryId: string }];
  expect((await talaria(...at, "dm", "show", deliveryId)).stdout).toMatch(/^reply +Ping$/m);
  expect((await talaria(...at, "dm", "watch", deliveryId)).stdout).toBe("replied: Ping\n");
  const [chat] = JSON.parse((await talaria(...at, "--json", "sessions")).stdout) as [
    { sessionId: string; title: string },
  ];
  expect(chat.title).toBe("Bot Chat");
  expect((await talaria(...at, "sessions", "show", chat.sessionId)).stdout).toMatch(/Ping\n< Ping\n$/);
  const refused = await talaria(...at, "dm", "send", "nowhere", "Ping");
  expect(refused.code).toBe(66);
  expect(refused.stderr).toContain("UNKNOWN_TARGET");
});

test("sessions are listed, shown, exported, reset and deleted", async () => {
  const { home } = await serve();
  const at = ["--home", home];
  await talaria(...at, "run", "main", "Remember", "--title", "notes");
  const [session] = JSON.parse((await talaria(...at, "--json", "sessions")).stdout) as [
    { sessionId: string; title: string },
  ];
  expect(session.title).toBe("notes");
  const { sessionId } = session;
  expect((await talaria(...at, "sessions", "show", sessionId)).stdout).toMatch(/> Remember\n< Remember\n$/);
  const parts = (await talaria(...at, "sessions", "export", sessionId)).stdout.trim().split("\n");
  expect(parts.map((line) => Object.keys(JSON.parse(line) as object)[0])).toEqual([
    "session",
    "turn",
    "message",
    "message",
  ]);
  expect((await talaria(...at, "sessions", "reset", sessionId)).code).toBe(0);
  expect((await talaria(...at, "sessions", "show", sessionId)).stdout).toContain(
    "--- The conversation was reset here. ---",
  );
  expect((await talaria(...at, "sessions", "delete", sessionId)).code).toBe(0);
  expect((await talaria(...at, "sessions", "show", sessionId)).stderr).toContain("UNKNOWN_SESSION");
});

test("tokens open TCP while the gateway runs, and close it", async () => {
  const { home, info } = await serve(temporaryHome("listeners: { client_tcp: { port: 0 } }\n"));
  const address = ["--address", info.addresses["clientTcp"] ?? ""];
  const at = ["--home", home];
  expect((await talaria(...address, "agents")).stderr).toContain("UNAUTHENTICATED");
  const token = (await talaria(...at, "tokens", "create", "ci", "--role", "reader")).stdout.trim();
  expect(token).toMatch(/^tal_/);
  expect((await talaria(...address, "--token", token, "agents")).stdout).toContain("main (main)");
  const denied = await talaria(...address, "--token", token, "run", "main", "Hello");
  expect(denied).toMatchObject({ code: 77 });
  expect((await talaria(...at, "tokens", "list")).stdout).toMatch(/^ci +reader +\S+ +20\S+$/m);
  expect((await talaria(...at, "tokens", "revoke", "ci")).code).toBe(0);
  expect(await talaria(...address, "--token", token, "agents")).toMatchObject({ code: 78 });
  expect((await talaria(...at, "tokens", "revoke", "ci")).code).toBe(66);
});

test("a command on a home's files is not done on another home than the one that is meant", async () => {
  const home = temporaryHome("name: west\n");
  const contexts = temporaryHome();
  const elsewhere = talariaWith({ TALARIA_HOME: home, TALARIA_CONFIG_DIR: contexts });
  await elsewhere("contexts", "add", "office", "--address", "tls:office.example:7420");
  await elsewhere("contexts", "add", "west", "--home", home);
  for (const command of ["tokens list", "tokens create ci", "config check", "pin", "agents new ci"]) {
    const refused = await elsewhere("--context", "office", ...command.split(" "));
    expect(refused.code, command).toBe(64);
    expect(refused.stderr).toContain("the context office (tls:office.example:7420) is a gateway elsewhere");
  }
  expect((await elsewhere("--address", "127.0.0.1:1", "serve")).code).toBe(64);
  const other = talariaWith({ TALARIA_CONFIG_DIR: contexts });
  expect((await other("--context", "west", "config", "show")).stdout).toMatch(/^name +west /m);
  expect(readdirSync(home)).toEqual(["talaria.yaml"]);
});

test("tokens are named well and once, in a home that is there", async () => {
  const home = temporaryHome("name: west\n");
  const create = (name: string, where = home) => talaria("--home", where, "tokens", "create", name);
  expect((await create("ci")).code).toBe(0);
  expect(await create("ci")).toMatchObject({ code: 73, stderr: expect.stringMatching(/tokens revoke ci/) });
  expect(await create("a b")).toMatchObject({ code: 64, stderr: expect.stringMatching(/^INVALID_FIELD: "a b"/) });
  expect((await create("ci", join(home, "none"))).code).toBe(66);
  writeFileSync(join(home, "file"), "");
  expect(await create("ci", join(home, "file"))).toMatchObject({ code: 78, stderr: expect.stringMatching(/ENOTDIR/) });
});

test.runIf(existsSync("/dev/full"))(
  "what cannot be written is an error, and text that is none is not sent",
  async () => {
    const script = `"$0" "$1" help > /dev/full; echo "$?"; "$0" "$1" --json help > /dev/full; echo "$?"
    printf '\\377' | "$0" "$1" --home "$2" run main -; echo "$?"; "$0" "$1" statsu 2> /dev/full; echo "$?"`;
    const { home } = await serve();
    const { stdout, stderr } = spawnSync("sh", ["-c", script, process.execPath, talariaCommand, home], {
      encoding: "utf8",
      env: { ...process.env, ...noSurroundings },
    });
    expect(stdout).toBe("74\n74\n64\n64\n");
    expect(stderr).toMatch(/^STORAGE_UNAVAILABLE: The output cannot be written: ENOSPC\./);
    expect(stderr).toMatch(/^\{"error":\{"reason":"STORAGE_UNAVAILABLE"/m);
    expect(stderr).toMatch(/^INVALID_FIELD: Standard input is not UTF-8 text\./m);
  },
);

test("usage shows what agents have used today, and a budget is lifted", async () => {
  const { home } = await serve();
  const at = ["--home", home];
  await talaria(...at, "run", "main", "!usage 11 7 0.25");
  await talaria(...at, "run", "main", "!usage 4 1 0.5");
  const { stdout, code } = await talaria(...at, "--json", "usage");
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject([
    { agent: "main", turns: 2, notCompleted: 0, inputTokens: 15, outputTokens: 8, costUsd: 0.75 },
  ]);
  expect((await talaria(...at, "usage", "--agent", "main", "--days", "1")).stdout).toMatch(
    /^\d{4}-\d\d-\d\d +main +2 /m,
  );
  expect((await talaria(...at, "usage", "--days", "none")).code).toBe(64);
  writeFileSync(join(home, "agents", "main", "agent.yaml"), "runtime: echo\nbudget: { tokens_per_day: 20 }\n");
  expect((await talaria(...at, "reload")).code).toBe(0);
  expect(await talaria(...at, "run", "main", "Hello")).toMatchObject({
    code: 75,
    stderr: expect.stringMatching(/BUDGET_REACHED[\s\S]*23 of 20 tokens/),
  });
  expect((await talaria(...at, "usage")).stdout).toMatch(/ 20 tokens: paused$/m);
  expect((await talaria(...at, "agents")).stdout).toContain("! Agent main has used 23 of 20 tokens");
  expect((await talaria(...at, "usage", "lift", "main")).stdout).toContain("lifted until the UTC day ends");
  expect((await talaria(...at, "run", "main", "Hello")).code).toBe(0);
  expect((await talaria(...at, "usage")).stdout).toMatch(/ 20 tokens, lifted by client:\S+$/m);
  expect((await talaria(...at, "usage", "lift", "nobody")).code).toBe(66);
});
