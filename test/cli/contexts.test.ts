import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { serve, talariaWith, temporaryHome } from "./useTalaria.js";

function user() {
  const TALARIA_CONFIG_DIR = join(temporaryHome(), "config");
  return { file: join(TALARIA_CONFIG_DIR, "contexts.json"), run: talariaWith({ TALARIA_CONFIG_DIR }) };
}

test("a context is added, used, listed without its token and removed, in a file of its owner alone", async () => {
  const { home, info } = await serve(temporaryHome("listeners: { client_tcp: { port: 0 } }\n"));
  const { file, run } = user();
  const token = (await run("--home", home, "tokens", "create", "laptop")).stdout.trim();
  const tokenFile = join(home, "token.txt");
  writeFileSync(tokenFile, `${token}\n`);
  const address = info.addresses["clientTcp"] ?? "";

  const added = await run("contexts", "add", "office", "--address", address, "--token-file", tokenFile, "--use");
  expect(added).toMatchObject({ code: 0, stderr: "" });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(join(file, "..")).mode & 0o777).toBe(0o700);
  expect(readFileSync(file, "utf8")).toContain(token);
  expect(await run("run", "main", "Hello")).toMatchObject({ code: 0, stdout: "Hello\n" });

  const listed = await run("contexts");
  expect(listed.stdout).toMatch(new RegExp(`^office \\* +${address} +yes$`, "m"));
  expect(listed.stdout).not.toContain(token);
  expect((await run("--json", "contexts")).stdout).not.toContain(token);

  expect((await run("contexts", "use", "nowhere")).code).toBe(66);
  expect((await run("contexts", "add", "attic", "--home", home)).code).toBe(0);
  expect((await run("--context", "attic", "run", "main", "Up")).stdout).toBe("Up\n");

  // A revoked token: the reason, where the token came from, what to do.
  await run("--home", home, "tokens", "revoke", "laptop");
  const stale = await run("agents");
  expect(stale.code).toBe(78);
  expect(stale.stderr).toMatch(
    /^TOKEN_INVALID: .+\n {2}The token comes from the context office .+talaria tokens create/,
  );
  const reader = (await run("--home", home, "tokens", "create", "screen", "--role", "reader")).stdout.trim();
  const denied = await run("--token", reader, "--verbose", "run", "main", "Hello");
  expect(denied.code).toBe(77);
  expect(denied.stderr).toMatch(/needs the role client.+has the role reader/);
  expect(denied.stderr).toMatch(/comes from --token\. Make one of a role that allows it/);
  expect(denied.stderr).toMatch(/^ {2}code: PERMISSION_DENIED$/m);

  expect((await run("contexts", "remove", "office")).code).toBe(0);
  expect(readFileSync(file, "utf8")).not.toContain(token);
});

test("a file of contexts that others may read, or that is damaged, is refused with what to do", async () => {
  const { file, run } = user();
  expect((await run("contexts", "add", "office", "--address", "127.0.0.1:1")).code).toBe(0);
  chmodSync(file, 0o644);
  const open = await run("contexts");
  expect(open).toMatchObject({ code: 78 });
  expect(open.stderr).toContain(`chmod 600 ${file}`);
  chmodSync(file, 0o600);
  writeFileSync(file, "{");
  expect((await run("contexts")).stderr).toContain("is not JSON");
});

test.each([
  [["local", "--address", "a:1"], "always means your own home"],
  [["x y", "--address", "a:1"], "cannot name a context"],
  [["office"], "needs an address"],
  [["office", "--address", "nonsense"], "is no address"],
  [["office", "--address", "a:1", "--pin", "abc"], "The pin is none"],
  [["office", "--address", "a:1", "--home", "/h"], "an address or a home"],
])("contexts add %j is refused: %s", async (args, message) => {
  const ended = await user().run("contexts", "add", ...args);
  expect(ended.code).toBe(64);
  expect(ended.stderr).toContain(message);
});

test("a token is not sent over a network in the clear", async () => {
  const ended = await user().run("--address", "192.0.2.1:7420", "--token", "tal_x", "agents");
  expect(ended.code).toBe(78);
  expect(ended.stderr).toMatch(/^TRANSPORT_INSECURE: .+\n {2}Use TLS: tls:192\.0\.2\.1:7420/);
});
