import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Metadata, status } from "@grpc/grpc-js";
import { expect, onTestFinished, test } from "vitest";

import { createClientToken } from "../../src/base/clientTokens.js";
import { systemClock } from "../../src/base/clock.js";
import { systemRandom } from "../../src/base/random.js";
import { METHOD_ROLES, roleIncludes } from "../../src/gateway/access/methodRoles.js";
import { createClient } from "../../src/rpc/clients/connectClient.js";
import { buildCertificate, certificatePem } from "../../src/rpc/tls/certificateBuilder.js";
import { ephemeralIdentity } from "../../src/rpc/tls/identityKey.js";
import { issueLeaf } from "../../src/rpc/tls/leafCertificate.js";
import { serve, talaria, temporaryHome } from "./useTalaria.js";

interface AuditLine {
  readonly at: string;
  readonly who: string;
  readonly role: string;
  readonly from: string;
  readonly pid?: number;
  readonly what: string;
  readonly outcome: string;
}

const auditOf = (home: string): readonly AuditLine[] =>
  readFileSync(join(home, "logs", "audit.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as AuditLine);

const tokenOf = (home: string, name: string, role: "operator" | "client" | "reader"): string =>
  createClientToken(join(home, "client-tokens.yaml"), { name, role }, { clock: systemClock, random: systemRandom });

test("a gateway beyond this machine is reached over TLS by its pin; another pin is refused and told", async () => {
  const { home, info } = await serve(temporaryHome("listeners: { client_tcp: { host: 0.0.0.0, port: 0, tls: {} } }\n"));
  const address = (info.addresses["clientTcp"] ?? "").replace("0.0.0.0", "127.0.0.1");
  const token = tokenOf(home, "far", "client");
  const at = ["--address", address, "--token", token];
  const answered = await talaria(...at, "--pin", info.pin, "run", "main", "Hello");
  expect(answered).toMatchObject({ code: 0, stdout: "Hello\n" });
  const other = (await ephemeralIdentity(Date.now())).pin;
  const refused = await talaria(...at, "--pin", other, "run", "main", "Hello");
  expect(refused.code).toBe(78);
  expect(refused.stderr).toContain(
    `PEER_PIN_MISMATCH: The gateway at ${address} shows the key ${info.pin}, not ${other}.`,
  );
  const plain = await talaria(...at, "agents");
  expect(plain.code).toBe(69);
  expect(plain.stderr).toMatch(/wants --ca, --pin or tls:/);
});

test("a certificate of an authority is taken with --ca, and refused without", async () => {
  const home = temporaryHome("listeners: { client_tcp: { port: 0, tls: { cert: cert.pem, key: key.pem } } }\n");
  const authority = await ephemeralIdentity(Date.now());
  const leaf = await issueLeaf(authority, Date.now());
  writeFileSync(join(home, "cert.pem"), leaf.chainPem);
  writeFileSync(join(home, "key.pem"), leaf.privateKeyPem, { mode: 0o600 });
  writeFileSync(join(home, "ca.pem"), authority.certificatePem);
  const { info } = await serve(home);
  const token = tokenOf(home, "far", "client");
  // The leaf bears one name, which is no address; it must resolve for the name to be checked.
  const address = info.addresses["clientTcp"] ?? "";
  const wrongName = await talaria("--address", address, "--token", token, "--ca", join(home, "ca.pem"), "agents");
  expect(wrongName.code).toBe(69);
  expect(wrongName.stderr).toContain("certificates are those that signed its own");
  const named = await ephemeralIdentity(Date.now());
  const pem = certificatePem(
    await buildCertificate({
      role: { kind: "leaf", dnsName: "localhost" },
      subjectKey: named.privateKey,
      subjectName: "localhost",
      issuerKey: authority.privateKey,
      issuerName: "talaria identity",
      notBeforeMs: Date.now() - 60_000,
      notAfterMs: Date.now() + 3_600_000,
    }),
  );
  // Replaced on disk while the gateway runs: the next connection gets it.
  writeFileSync(join(home, "key.pem"), named.privateKey.export({ type: "pkcs8", format: "pem" }));
  writeFileSync(join(home, "cert.pem"), pem);
  const localhost = address.replace("127.0.0.1", "localhost");
  const found = await talaria("--address", localhost, "--token", token, "--ca", join(home, "ca.pem"), "agents");
  expect(found).toMatchObject({ code: 0, stderr: "" });
  expect((await talaria("--address", `tls:${localhost}`, "--token", token, "agents")).code).toBe(69);
});

test("what was to change something is recorded: who, what, when, from where, with which outcome; reads are not", async () => {
  const { home, info } = await serve(temporaryHome("listeners: { client_tcp: { port: 0 } }\n"));
  const address = info.addresses["clientTcp"] ?? "";
  const reader = tokenOf(home, "screen", "reader");
  await talaria("--home", home, "run", "main", "A secret text");
  await talaria("--home", home, "sessions", "delete", "ses_00000000000000000000000000");
  await talaria("--home", home, "status");
  await talaria("--address", address, "--token", reader, "run", "main", "Hello");
  await talaria("--address", address, "--token", reader, "status");
  await talaria("--address", address, "--token", "tal_wrong", "run", "main", "Hello");
  const lines = auditOf(home);
  expect(lines.map(({ who, what, outcome }) => [who, what.split("/")[2], outcome])).toEqual([
    ["client:socket", "RunTurn", "OK"],
    ["client:socket", "DeleteSession", "UNKNOWN_SESSION"],
    ["client:screen", "RunTurn", "PERMISSION_DENIED"],
    ["unknown", "RunTurn", "TOKEN_INVALID"],
  ]);
  expect(lines[0]).toMatchObject({ role: "operator", from: "unix", pid: expect.any(Number) as number });
  expect(lines[2]?.from).toMatch(/^127\.0\.0\.1:\d+$/);
  const text = readFileSync(join(home, "logs", "audit.jsonl"), "utf8");
  for (const secret of ["A secret text", "tal_wrong", reader]) expect(text).not.toContain(secret);
  expect(statSync(join(home, "logs", "audit.jsonl")).mode & 0o777).toBe(0o600);
});

test("guesses are held up, a valid token from the same address is not", async () => {
  const { home, info } = await serve(temporaryHome("listeners: { client_tcp: { port: 0 } }\n"));
  const at = ["--address", info.addresses["clientTcp"] ?? ""];
  const valid = tokenOf(home, "good", "reader");
  for (let count = 0; count < 3; count += 1) await talaria(...at, "--token", "tal_guess", "agents");
  // The guesses after these are held up for longer each time; the valid one is answered while they are.
  const guesses = Array.from({ length: 4 }, () => talaria(...at, "--token", "tal_guess", "agents"));
  expect((await talaria(...at, "--token", valid, "agents")).code).toBe(0);
  for (const { code } of await Promise.all(guesses)) expect(code).toBe(78);
});

test("beyond this machine without TLS the gateway does not start, and says what to set", async () => {
  const home = temporaryHome("listeners: { client_tcp: { host: 0.0.0.0, port: 0 } }\n");
  const ended = await talaria("--home", home, "serve");
  expect(ended.code).toBe(78);
  expect(ended.stderr).toMatch(/TRANSPORT_INSECURE: .+without TLS.+\n {2}Turn TLS on with listeners\.client_tcp\.tls/);
});

test("every method of the table is refused at its headers to each role below its own", async () => {
  const { home, info } = await serve(
    temporaryHome("listeners: { client_tcp: { port: 0 }, reflection_on_tcp: true }\n"),
  );
  const client = createClient({ address: info.addresses["clientTcp"] ?? "", purpose: "tcp" });
  onTestFinished(() => {
    client.close();
  });
  const roles = ["reader", "client"] as const;
  const tokens = { reader: tokenOf(home, "r", "reader"), client: tokenOf(home, "c", "client") };
  const same = (bytes: Buffer): Buffer => bytes;
  const codeOf = (path: string, token: string): Promise<status> =>
    new Promise((resolve) => {
      const metadata = new Metadata();
      metadata.set("authorization", `Bearer ${token}`);
      const deadline = { deadline: Date.now() + 10_000 };
      client.makeUnaryRequest(path, same, same, Buffer.alloc(0), metadata, deadline, (error) =>
        resolve(error?.code ?? status.OK),
      );
    });
  const refusals = Object.entries(METHOD_ROLES).flatMap(([path, needed]) =>
    roles.filter((role) => !roleIncludes(role, needed)).map((role) => ({ path, role })),
  );
  expect(refusals.length).toBeGreaterThan(20);
  const found = await Promise.all(
    refusals.map(async ({ path, role }) => [path, role, await codeOf(path, tokens[role])] as const),
  );
  expect(found.filter(([, , code]) => code !== status.PERMISSION_DENIED)).toEqual([]);
  expect(await codeOf("/talaria.gateway.v1.AdminService/Nothing", tokens.client)).toBe(status.UNIMPLEMENTED);
});
