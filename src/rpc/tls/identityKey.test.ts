import { X509Certificate, generateKeyPairSync } from "node:crypto";
import {
  chmod,
  lstat,
  mkdtemp,
  readFile,
  readdir,
  rename,
  rm,
  symlink,
  unlink,
  writeFile,
  mkdir,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ephemeralIdentity, type Identity, openIdentity } from "./identityKey.js";

const NOW = Date.UTC(2030, 0, 15);
let home: string;
let keyPath: string;
let certificatePath: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "talaria-identity-"));
  keyPath = join(home, "tls", "identity.key");
  certificatePath = join(home, "tls", "identity.crt");
});
afterEach(async () => {
  await rm(home, { recursive: true, force: true });
});

async function mode(path: string): Promise<number> {
  return (await lstat(path)).mode & 0o777;
}

/** Opens the home's identity and has its certificate made. */
async function openWhole(): Promise<Identity> {
  const identity = await openIdentity(home, NOW);
  await identity.certificate();
  return identity;
}

describe("the identity of a home", () => {
  it("is made once, private, and the same ever after", async () => {
    const first = await openIdentity(home, NOW);
    expect(await readdir(join(home, "tls"))).toEqual(["identity.key"]);
    const certificate = await first.certificate();
    const key = await readFile(keyPath, "utf8");
    const again = await openIdentity(home, NOW + 1_000_000);

    expect(again.pin).toBe(first.pin);
    expect(await again.certificate()).toBe(certificate);
    expect(await first.certificate()).toBe(certificate);
    expect(await readFile(keyPath, "utf8")).toBe(key);
    expect(key).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
    expect(await mode(join(home, "tls"))).toBe(0o700);
    expect(await mode(keyPath)).toBe(0o600);
    expect(await readdir(join(home, "tls"))).toEqual(["identity.crt", "identity.key"]);
  });

  it("tells at the first need that a certificate cannot be made, and makes it once it can", async () => {
    const identity = await openIdentity(home, NOW);
    await mkdir(certificatePath, { mode: 0o700 });
    await expect(identity.certificate()).rejects.toMatchObject({ problem: "not_plain", path: certificatePath });
    await rm(certificatePath, { recursive: true });
    expect(await identity.certificate()).toContain("BEGIN CERTIFICATE");
  });

  it("is one, however many open it at once", async () => {
    const identities = await Promise.all(Array.from({ length: 16 }, () => openIdentity(home, NOW)));
    expect(new Set(identities.map((identity) => identity.pin)).size).toBe(1);
    const certificates = await Promise.all(identities.map((identity) => identity.certificate()));
    expect(new Set(certificates).size).toBe(1);
    expect(await readdir(join(home, "tls"))).toEqual(["identity.crt", "identity.key"]);
  });

  it("gets its certificate again under the same pin when only that is missing", async () => {
    const first = await openWhole();
    await unlink(certificatePath);
    const again = await openIdentity(home, NOW);
    expect(again.pin).toBe(first.pin);
    await again.certificate();
    expect(await readdir(join(home, "tls"))).toEqual(["identity.crt", "identity.key"]);
  });

  it("is not replaced silently when the key is missing", async () => {
    await openWhole();
    await unlink(keyPath);
    await expect(openIdentity(home, NOW)).rejects.toMatchObject({ problem: "mismatch", path: certificatePath });
    expect(await readdir(join(home, "tls"))).toEqual(["identity.crt"]);
  });

  it.each([0o640, 0o604, 0o620, 0o601])("refuses a key of mode %o", async (wide) => {
    await openWhole();
    await chmod(keyPath, wide);
    await expect(openIdentity(home, NOW)).rejects.toMatchObject({ problem: "mode", path: keyPath });
  });

  it("refuses a folder that others may enter", async () => {
    await openWhole();
    await chmod(join(home, "tls"), 0o750);
    await expect(openIdentity(home, NOW)).rejects.toMatchObject({ problem: "mode", path: join(home, "tls") });
  });

  it("lets others read the certificate but not write it", async () => {
    await openWhole();
    await chmod(certificatePath, 0o644);
    await openIdentity(home, NOW);
    await chmod(certificatePath, 0o664);
    await expect(openIdentity(home, NOW)).rejects.toMatchObject({ problem: "mode", path: certificatePath });
  });

  it("refuses symbolic links for the folder, the key and the certificate", async () => {
    await openWhole();
    for (const path of [keyPath, certificatePath, join(home, "tls")]) {
      await rename(path, join(home, "elsewhere"));
      await symlink(join(home, "elsewhere"), path);
      await expect(openIdentity(home, NOW)).rejects.toMatchObject({ problem: "not_plain", path });
      await unlink(path);
      await rename(join(home, "elsewhere"), path);
    }
  });

  it("refuses a folder in the place of the key", async () => {
    await mkdir(join(home, "tls"), { mode: 0o700 });
    await mkdir(keyPath, { mode: 0o700 });
    await expect(openIdentity(home, NOW)).rejects.toMatchObject({ problem: "not_plain", path: keyPath });
  });

  it("refuses keys that are garbage or not P-256, without quoting them", async () => {
    const { privateKey } = generateKeyPairSync("ed25519");
    const other = privateKey.export({ type: "pkcs8", format: "pem" }) as string;
    await mkdir(join(home, "tls"), { mode: 0o700 });
    for (const text of ["", "hunter2", other]) {
      await writeFile(keyPath, text, { mode: 0o600 });
      const failure: unknown = await openIdentity(home, NOW).catch((error: unknown) => error);
      expect(failure).toMatchObject({ name: "IdentityKeyError", problem: "malformed", path: keyPath });
      expect(String(failure)).not.toContain("hunter2");
    }
  });

  it("refuses a certificate that is garbage or of another key", async () => {
    await openWhole();
    await writeFile(certificatePath, "garbage");
    await expect(openIdentity(home, NOW)).rejects.toMatchObject({ problem: "malformed", path: certificatePath });
    await writeFile(certificatePath, (await ephemeralIdentity(NOW)).certificatePem);
    await expect(openIdentity(home, NOW)).rejects.toMatchObject({ problem: "mismatch", path: certificatePath });
  });

  it("has a self-signed CA certificate without an end", async () => {
    const certificate = new X509Certificate((await ephemeralIdentity(NOW)).certificatePem);
    expect(certificate.ca).toBe(true);
    expect(certificate.verify(certificate.publicKey)).toBe(true);
    expect(Date.parse(certificate.validFrom)).toBe(NOW - 24 * 60 * 60 * 1000);
    expect(Date.parse(certificate.validTo)).toBe(Date.UTC(9999, 11, 31, 23, 59, 59));
  });
});
