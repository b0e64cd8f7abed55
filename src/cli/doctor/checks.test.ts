import { chmodSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import type { AgentConfig } from "../../base/config/agentConfig.js";
import { homePaths } from "../../base/home.js";
import { GatewayInfo } from "../../gen/talaria/dm/v1/roster.js";
import { AdminServiceService, GetStatusResponse, Peer, PeerLink } from "../../gen/talaria/gateway/v1/admin_service.js";
import { Reason } from "../../gen/talaria/reason/v1/reason.js";
import { issueLeaf } from "../../rpc/tls/leafCertificate.js";
import { openIdentity } from "../../rpc/tls/identityKey.js";
import { checkAgents, checkEndpoints } from "./agentChecks.js";
import { checkPeers, checkStatus } from "./gatewayChecks.js";
import { checkCertificates, checkHome, checkSockets, checkTokens } from "./homeChecks.js";
import { checkClock, checkDisk, checkNode } from "./machineChecks.js";
import { checkPorts } from "./portChecks.js";

function home(): string {
  const root = mkdtempSync(join(tmpdir(), "td-"));
  onTestFinished(() => {
    rmSync(root, { recursive: true, force: true });
  });
  return root;
}

const agent = (changes: Partial<AgentConfig>): AgentConfig =>
  ({ name: "main", runtime: "openai", fallbackModels: [], ...changes }) as unknown as AgentConfig;
const model = (baseUrl: string, apiKey?: object) => ({ name: "m", provider: "", baseUrl, apiKey }) as never;

test("a home that is a file, or below one, is told of, and the other checks of it say what they can", () => {
  const root = home();
  writeFileSync(join(root, "file"), "");
  for (const where of [join(root, "file"), join(root, "file", "below")]) {
    const paths = homePaths(where);
    expect(checkHome(paths, process.getuid?.())).toMatchObject([{ check: "home", level: "problem" }]);
    expect(checkClock(paths, Date.now()).level).toBe("ok");
    expect(checkCertificates(paths, [], Date.now())).toMatchObject([{ level: "ok" }]);
  }
});

test.each([
  ["20.19.0", "ok"],
  ["22.1.0", "ok"],
  ["20.18.9", "problem"],
  ["18.20.0", "problem"],
])("node %s: %s", (version, level) => {
  expect(checkNode(version).level).toBe(level);
});

test.each([
  [50, "ok"],
  [9, "warning"],
  [5, "problem"],
])("a disk with %i %% free: %s", async (free, level) => {
  const finding = await checkDisk("/home", () => Promise.resolve({ usedBytes: 100 - free, freeBytes: free }));
  expect(finding.level).toBe(level);
  expect(finding.fix === "").toBe(level === "ok");
});

test("a disk that does not say how large it is is passed over", async () => {
  expect((await checkDisk("/nonexistent")).level).toBe("skipped");
  const silent = await checkDisk("/home", () => Promise.resolve({ usedBytes: 0, freeBytes: 0 }));
  expect(silent.level).toBe("skipped");
});

test("a clock that was never set, or is behind the home's files, is a problem", () => {
  const root = home();
  const paths = homePaths(root);
  writeFileSync(paths.database, "");
  expect(checkClock(paths, Date.now()).level).toBe("ok");
  expect(checkClock(paths, 0).level).toBe("problem");
  const later = Date.now() / 1_000 + 3_600;
  utimesSync(paths.database, later, later);
  expect(checkClock(paths, Date.now())).toMatchObject({
    level: "problem",
    fix: expect.stringContaining("clock") as string,
  });
});

test("a home that is missing, someone else's, or open to others is told with the command that mends it", () => {
  const root = home();
  const paths = homePaths(root);
  expect(checkHome(paths, process.getuid?.())[0]?.level).toBe("ok");
  expect(checkHome(homePaths(join(root, "none")), undefined)[0]).toMatchObject({ level: "problem" });
  expect(checkHome(paths, 4_242_424)[0]?.message).toContain("belongs to user");
  mkdirSync(paths.tlsDir, { mode: 0o755 });
  chmodSync(paths.tlsDir, 0o755);
  expect(checkHome(paths, undefined)[0]?.fix).toBe(`chmod go-rwx ${paths.tlsDir}`);
});

test("a socket path that the kernel would cut names run_dir", () => {
  expect(checkSockets(homePaths("/short")).level).toBe("ok");
  expect(checkSockets(homePaths(`/${"x".repeat(100)}`))).toMatchObject({
    level: "problem",
    fix: expect.stringContaining("run_dir") as string,
  });
});

test("certificates: their dates, a missing key, and what is none", async () => {
  const root = home();
  const paths = homePaths(root);
  expect(checkCertificates(paths, [], 0)[0]?.level).toBe("ok");
  const identity = await openIdentity(root, Date.now());
  const leaf = join(root, "leaf.pem");
  writeFileSync(leaf, (await issueLeaf(identity, Date.now())).chainPem);
  const day = 86_400_000;
  const levelAt = (days: number) => checkCertificates(paths, [leaf], Date.now() + days * day).map(({ level }) => level);
  expect(levelAt(0)).toEqual(["ok", "ok"]);
  expect(levelAt(20)).toEqual(["ok", "warning"]);
  expect(levelAt(40)).toEqual(["ok", "problem"]);
  expect(levelAt(-3)).toEqual(["problem", "problem"]);
  rmSync(join(paths.tlsDir, "identity.key"));
  writeFileSync(leaf, "none");
  expect(levelAt(0)).toEqual(["problem", "ok", "problem"]);
});

test("a key that is open or damaged, and tokens that cannot be used, are told", () => {
  const paths = homePaths(home());
  mkdirSync(paths.tlsDir);
  const key = join(paths.tlsDir, "identity.key");
  const said = () => checkCertificates(paths, [], Date.now()).map(({ level, message }) => `${level} ${message}`);
  writeFileSync(key, "junk", { mode: 0o600 });
  expect(said()).toEqual([expect.stringMatching(/^problem .+no private key/)]);
  chmodSync(key, 0o644);
  expect(said()).toEqual([expect.stringMatching(/^problem Others may read/)]);
  const tokens = join(paths.root, "client-tokens.yaml");
  expect(checkTokens(tokens)).toEqual([]);
  writeFileSync(tokens, "tokens: [{ name: a }]", { mode: 0o600 });
  expect(checkTokens(tokens)).toMatchObject([{ check: "tokens", level: "problem" }]);
});

test("ports are tried where no gateway runs, and asked of the gateway where one does", async () => {
  const server = createServer().listen({ host: "127.0.0.1", port: 0 });
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as { port: number };
  const taken = { listeners: { clientTcp: { host: "127.0.0.1", port }, reflectionOnTcp: false } };
  expect(await checkPorts(taken, undefined)).toMatchObject([
    { level: "problem", message: expect.stringContaining("EADDRINUSE") as string },
  ]);
  expect(await checkPorts(taken, ["client-tcp"])).toMatchObject([{ level: "ok" }]);
  expect(await checkPorts(taken, [])).toMatchObject([{ level: "problem" }]);
  expect(await checkPorts({ listeners: { reflectionOnTcp: false } }, undefined)).toMatchObject([{ level: "skipped" }]);
  const metrics = { listeners: { metrics: { host: "127.0.0.1", port }, reflectionOnTcp: false } };
  expect(await checkPorts(metrics, undefined)).toMatchObject([{ level: "problem" }]);
  expect(await checkPorts(metrics, ["client-tcp"])).toMatchObject([{ level: "skipped" }]);
  const free = { listeners: { clientTcp: { host: "127.0.0.1", port: 0 }, reflectionOnTcp: false } };
  expect(await checkPorts(free, undefined)).toMatchObject([{ level: "ok" }]);
});

test("an API key that is not there is told, and its value never", () => {
  const root = home();
  const path = join(root, "key");
  const of = (apiKey: object) => checkAgents([agent({ model: model("http://x/v1", apiKey) })], { SET: "s3cret" });
  expect(of({ kind: "env", name: "SET" })[0]?.level).toBe("ok");
  expect(of({ kind: "env", name: "UNSET" })[0]).toMatchObject({ level: "warning" });
  expect(of({ kind: "file", path })[0]?.level).toBe("problem");
  writeFileSync(path, "s3cret", { mode: 0o644 });
  expect(of({ kind: "file", path })[0]).toMatchObject({ level: "warning", fix: `chmod 600 ${path}` });
  chmodSync(path, 0o600);
  expect(JSON.stringify(of({ kind: "file", path }))).not.toContain("s3cret");
});

test.each([
  [200, "ok"],
  [404, "ok"],
  [401, "problem"],
  [503, "warning"],
])("an endpoint that answers %i: %s", async (status, level) => {
  const request = (async () => ({ status })) as unknown as typeof fetch;
  const agents = [agent({ model: model("http://x/v1/") }), agent({ model: model("http://x/v1/") })];
  const findings = await checkEndpoints(agents, {}, request);
  expect(findings.map((finding) => finding.level)).toEqual([level]);
});

test("an endpoint that does not answer says why", async () => {
  const request = (() => Promise.reject(new TypeError("failed", { cause: { code: "ECONNREFUSED" } }))) as typeof fetch;
  const [finding] = await checkEndpoints([agent({ model: model("http://x/v1") })], {}, request);
  expect(finding).toMatchObject({ level: "problem" });
});

test("what the gateway says of itself is passed on: draining, problems, paused sessions, a late loop", () => {
  const status = GetStatusResponse.fromPartial({
    draining: true,
    pausedSessions: 2,
    loopDelayP99: { seconds: 1n, nanos: 0 },
    problems: [{ message: "The disk is full.", hint: "Free space." }],
  });
  expect(checkStatus(status).map(({ level }) => level)).toEqual(["warning", "problem", "warning", "warning"]);
  expect(checkStatus(GetStatusResponse.fromPartial({})).map(({ level }) => level)).toEqual(["ok"]);
});

/** What the doctor finds of one peer. */
async function findingsOf(peer: Parameters<typeof Peer.fromPartial>[0]) {
  const own = GatewayInfo.fromPartial({ name: "here", protocolMin: 2, protocolMax: 3 });
  const answers = new Map<unknown, unknown>([
    [AdminServiceService.listPeers, { peers: [Peer.fromPartial({ name: "north", address: "n:7421", ...peer })] }],
    [AdminServiceService.listDestinations, { destinations: [] }],
  ]);
  return checkPeers({ call: (method) => Promise.resolve(answers.get(method) as never) }, own);
}

test("a peer that is reached is well, and says its version", async () => {
  const found = await findingsOf({
    link: PeerLink.PEER_LINK_UP,
    info: { version: "1.2", protocolMin: 1, protocolMax: 2 },
  });
  expect(found).toEqual([{ check: "peers", level: "ok", message: "north (version 1.2)", fix: "" }]);
});

test.each([
  ["another key", { reason: Reason.REASON_PEER_PIN_MISMATCH, message: "Another key.", hint: "x" }, "talaria pin"],
  [
    "silence",
    { reason: Reason.REASON_PEER_UNREACHABLE, message: "No answer.", hint: "" },
    "talaria peers update north",
  ],
  [
    "a cause that is known",
    { reason: Reason.REASON_PEER_UNREACHABLE, message: "No answer.", hint: "Look there." },
    "Look there.",
  ],
])("a peer that is not reached for %s says when it was, why, and what to do", async (_what, lastError, fix) => {
  const [found] = await findingsOf({ link: PeerLink.PEER_LINK_DOWN, lastError, lastSeenAt: { seconds: 1n, nanos: 0 } });
  expect(found).toMatchObject({ level: "problem", message: expect.stringContaining("last seen 19") as string });
  expect(found?.message).toContain(lastError.message);
  expect(found?.fix).toContain(fix);
});

test.each([
  [1, 1, "Update north."],
  [4, 5, "Update this gateway."],
])("a peer that speaks %i to %i only is not understood", async (protocolMin, protocolMax, fix) => {
  const found = await findingsOf({ link: PeerLink.PEER_LINK_UP, info: { protocolMin, protocolMax } });
  expect(found.map(({ level }) => level)).toEqual(["ok", "problem"]);
  expect(found[1]?.fix).toBe(fix);
});

const HOUR_MS = 3_600_000n;

test.each([
  ["agrees but for the way", 59_999n, 0, undefined, "", ""],
  ["may be right: the way was slow", 65_000n, 6_000, undefined, "", ""],
  ["is hours ahead", 3n * HOUR_MS, 20, "warning", "3h ahead", "up to a day is made up for"],
  ["is minutes behind", -300_000n, 20, "warning", "5m behind", "up to a day is made up for"],
  ["is days behind", -72n * HOUR_MS, 20, "problem", "3d behind", "time service"],
])("a peer's clock that %s", async (_what, aheadMs, errorMs, level, text, fix) => {
  const found = await findingsOf({ link: PeerLink.PEER_LINK_UP, clock: { aheadMs, errorMs } });
  expect(found.map((finding) => finding.level)).toEqual(level === undefined ? ["ok"] : ["ok", level]);
  expect(found[1]?.message ?? "").toContain(text);
  expect(found[1]?.fix ?? "").toContain(fix);
});
