import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { X509Certificate, generateKeyPairSync } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildCertificate, certificatePem } from "./certificateBuilder.js";
import { ephemeralIdentity } from "./identityKey.js";
import { issueLeaf } from "./leafCertificate.js";

const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;
const NOW = Date.UTC(2030, 0, 15, 12);

describe.skipIf(!hasOpenssl)("certificates, as the openssl command sees them", async () => {
  const identity = await ephemeralIdentity(NOW);
  const leaf = await issueLeaf(identity, NOW);
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "talaria-openssl-"));
    writeFileSync(join(folder, "identity.pem"), identity.certificatePem);
    writeFileSync(join(folder, "leaf.pem"), new X509Certificate(leaf.chainPem).toString());
  });
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  function openssl(...parameters: string[]): string {
    const { status, stdout, stderr } = spawnSync("openssl", parameters, { cwd: folder, encoding: "utf8" });
    if (status !== 0) throw new Error(`openssl ${parameters.join(" ")}: ${stdout}${stderr}`);
    return stdout;
  }

  it.each(["sslserver", "sslclient"])("verify strictly for %s", (purpose) => {
    const time = String(NOW / 1000);
    const strict = ["verify", "-x509_strict", "-check_ss_sig", "-attime", time, "-purpose", purpose];
    expect(openssl(...strict, "-verify_hostname", "talaria", "-CAfile", "identity.pem", "leaf.pem")).toContain("OK");
  });

  it("carry the extensions of their role", () => {
    const leafText = openssl("x509", "-in", "leaf.pem", "-noout", "-text");
    expect(leafText).toMatch(/Basic Constraints: critical\s+CA:FALSE/);
    expect(leafText).toMatch(/Key Usage: critical\s+Digital Signature\n/);
    expect(leafText).toContain("TLS Web Server Authentication, TLS Web Client Authentication");
    expect(leafText).toContain("DNS:talaria");
    const identityText = openssl("x509", "-in", "identity.pem", "-noout", "-text");
    expect(identityText).toMatch(/Basic Constraints: critical\s+CA:TRUE, pathlen:0/);
    expect(identityText).toMatch(/Key Usage: critical\s+Certificate Sign\n/);
    expect(identityText).toContain("Not After : Dec 31 23:59:59 9999 GMT");
  });

  it("come in the same armour", () => {
    expect(openssl("x509", "-in", "identity.pem")).toBe(identity.certificatePem);
    expect(certificatePem(new X509Certificate(identity.certificatePem).raw)).toBe(identity.certificatePem);
  });
});

describe("the validity of a certificate", () => {
  const UTC_TIME = 0x17;
  const GENERALIZED_TIME = 0x18;

  it.each([
    ["UTCTime before 2050", Date.UTC(2049, 11, 31, 23, 59, 59, 999), UTC_TIME, "491231235959Z"],
    ["GeneralizedTime from 2050 on", Date.UTC(2050, 0, 1, 0, 0, 0, 999), GENERALIZED_TIME, "20500101000000Z"],
  ])("is written as %s, without fractions of a second", async (_, timeMs, tag, text) => {
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
    const encoded = await buildCertificate({
      role: { kind: "identity" },
      subjectKey: privateKey,
      subjectName: "someone",
      issuerKey: privateKey,
      issuerName: "someone",
      notBeforeMs: NOW,
      notAfterMs: timeMs,
    });
    const time = Buffer.concat([Buffer.from([tag, text.length]), Buffer.from(text, "ascii")]);
    expect(encoded.indexOf(time)).toBeGreaterThan(0);
  });
});
