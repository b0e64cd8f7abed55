import { createPrivateKey, X509Certificate } from "node:crypto";
import { accessSync, constants, existsSync, lstatSync, readFileSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";

import { readClientTokens } from "../../base/clientTokens.js";
import { ConfigError } from "../../base/configError.js";
import { checkSocketPath, type HomePaths } from "../../base/home.js";
import { HomeError } from "../../base/homeError.js";
import { type Finding, ok, problem, warning } from "./finding.js";
import { codeOf } from "./machineChecks.js";

/** Certificates that end within this time are told of, milliseconds. */
const NEAR_END_MS = 14 * 24 * 60 * 60 * 1_000;

/** Whether the home is there and this user's alone. */
export function checkHome(paths: HomePaths, ownUid: number | undefined): readonly Finding[] {
  const { root } = paths;
  let stat: Stats | undefined;
  try {
    stat = lstatSync(root, { throwIfNoEntry: false });
  } catch (error) {
    return [problem("home", `${root} cannot be looked at: ${codeOf(error)}.`, "Check that path, and who may use it.")];
  }
  if (stat === undefined) return [problem("home", `There is no home at ${root}.`, `talaria init --home ${root}`)];
  if (!statSync(root, { throwIfNoEntry: false })?.isDirectory()) {
    return [problem("home", `${root} is not a folder.`, "Move it away, or choose another home with --home.")];
  }
  if (ownUid !== undefined && stat.uid !== ownUid) {
    const message = `${root} belongs to user ${String(stat.uid)}, not to ${String(ownUid)}.`;
    return [problem("home", message, "Use a home of your own, or run as its user.")];
  }
  try {
    accessSync(root, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const fix = codeOf(error) === "EROFS" ? "Mount its file system for writing." : `chmod u+rwx ${root}`;
    return [problem("home", `Nothing can be written into ${root}: ${codeOf(error)}.`, fix)];
  }
  const secrets = [paths.tlsDir, paths.runDir, paths.logsDir, paths.outboxesDir, join(root, "client-tokens.yaml")];
  const open = secrets.filter((path) => ((lstatSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0);
  if (open.length > 0) {
    return [problem("home", `Others may look into ${open.join(", ")}.`, `chmod go-rwx ${open.join(" ")}`)];
  }
  if ((stat.mode & 0o022) !== 0) {
    return [warning("home", `Others may write into ${root}.`, `chmod go-w ${root}`)];
  }
  return [ok("home", root)];
}

/** Whether the kernel takes the paths of the sockets. */
export function checkSockets(paths: HomePaths): Finding {
  try {
    checkSocketPath(paths.gatewaySocket);
    checkSocketPath(paths.ownerSocket);
    return ok("sockets", paths.runDir);
  } catch (caught) {
    if (!(caught instanceof HomeError)) throw caught;
    const message = `${paths.runDir} is too long: ${String(Buffer.byteLength(paths.gatewaySocket))} bytes with the socket's name.`;
    return problem("sockets", message, `${caught.hint}.`);
  }
}

/** Whether the identity key is whole, and the dates of its certificate and of the given ones. */
export function checkCertificates(paths: HomePaths, more: readonly string[], nowMs: number): readonly Finding[] {
  const key = join(paths.tlsDir, "identity.key");
  const own = join(paths.tlsDir, "identity.crt");
  const findings: Finding[] = [];
  if (existsSync(own) && !existsSync(key)) {
    const fix = "Restore the key from a backup; or remove the certificate, and pair again with every peer.";
    findings.push(problem("certificates", `${own} is there without its key.`, fix));
  }
  if (existsSync(key)) findings.push(...checkKey(key));
  const files = [own, ...more].filter((path) => path !== own || existsSync(own));
  findings.push(...files.map((path) => checkCertificate(path, nowMs)));
  if (findings.length === 0) findings.push(ok("certificates", "made at the first start"));
  return findings;
}

/** Whether a gateway would take the identity key. What is right about it is not told. */
function checkKey(path: string): readonly Finding[] {
  try {
    if ((lstatSync(path).mode & 0o077) !== 0)
      return [
        problem("certificates", `Others may read ${path}.`, `chmod 600 ${path}; and pair again if they may have.`),
      ];
    createPrivateKey(readFileSync(path));
    return [];
  } catch (error) {
    const fix = "Restore it from a backup; or remove it with identity.crt, and pair again with every peer.";
    return [problem("certificates", `${path} is no private key that can be read: ${codeOf(error)}.`, fix)];
  }
}

/** Whether the file of client tokens can be used; a gateway lets no token in where it cannot. */
export function checkTokens(file: string): readonly Finding[] {
  try {
    readClientTokens(file);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError))
      return [problem("tokens", `${file} cannot be read: ${codeOf(error)}.`, "Check it.")];
    const fix = "Mend it there, or remove the file and make the tokens again: talaria tokens create NAME";
    return [problem("tokens", error.message, fix)];
  }
}

function checkCertificate(path: string, nowMs: number): Finding {
  let certificate;
  try {
    certificate = new X509Certificate(readFileSync(path));
  } catch (error) {
    return problem("certificates", `${path} is no certificate that can be read: ${codeOf(error)}.`, "Replace it.");
  }
  const from = Date.parse(certificate.validFrom);
  const to = Date.parse(certificate.validTo);
  const until = `until ${new Date(to).toISOString()}`;
  if (nowMs < from) {
    const message = `${path} is valid from ${new Date(from).toISOString()} only.`;
    return problem("certificates", message, "Set the clock, or replace the certificate.");
  }
  if (nowMs > to) return problem("certificates", `${path} has ended: valid ${until}.`, "Replace it.");
  if (to - nowMs < NEAR_END_MS) return warning("certificates", `${path} ends soon: valid ${until}.`, "Replace it.");
  return ok("certificates", `${path} ${until}`);
}
