import { createHash } from "node:crypto";
import { chmodSync, closeSync, openSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";

import { stringify } from "yaml";
import { z } from "zod";

import type { Clock } from "./clock.js";
import { parseYaml } from "./config/loadYaml.js";
import { ConfigError } from "./configError.js";
import type { Random } from "./random.js";

/** What a token lets its holder do, from most to least. */
export const CLIENT_ROLES = ["operator", "client", "reader"] as const;

/** One of {@link CLIENT_ROLES}. */
export type ClientTokenRole = (typeof CLIENT_ROLES)[number];

/** A client token as it is kept: never the token itself. */
export interface ClientToken {
  /** Name that its holder's calls are logged under; unique in the file. */
  readonly name: string;
  /** See {@link ClientTokenRole}. */
  readonly role: ClientTokenRole;
  /** SHA-256 of the token, 64 hex characters. A slow hash would add nothing: a token has 256 random bits. */
  readonly sha256: string;
  /** When it was made, ISO 8601. */
  readonly createdAt: string;
}

/** What may name a token. */
export const TOKEN_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

const schema = z.strictObject({
  tokens: z
    .array(
      z.strictObject({
        name: z.string().regex(TOKEN_NAME, "must match [A-Za-z0-9][A-Za-z0-9._-]{0,63}"),
        role: z.enum(CLIENT_ROLES),
        sha256: z.string().regex(/^[0-9a-f]{64}$/, "must be 64 hex characters"),
        created_at: z.string(),
      }),
    )
    .default([]),
});

/** Path of a home's token file: as `client_tokens_file` says, from the home's root, else `client-tokens.yaml` in it. */
export function clientTokensPath(root: string, configured: string | undefined): string {
  return resolve(root, configured ?? "client-tokens.yaml");
}

/** Path of the gateway's own file beside the token file: a JSON object of ISO 8601 times of last use by token name. */
export function tokenUsesFile(tokensFile: string): string {
  return `${tokensFile}.uses`;
}

/** The hash that a token is kept by. */
export function hashOfToken(token: string): Buffer {
  return createHash("sha256").update(token, "utf8").digest();
}

/**
 * Reads the token file; a missing one holds no tokens.
 * @throws ConfigError where it cannot be used, and where others than its owner may read it.
 */
export function readClientTokens(file: string): readonly ClientToken[] {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat === undefined) return [];
  if ((stat.mode & 0o077) !== 0) {
    throw new ConfigError({ file, problem: "may be read or changed by others", hint: "chmod 600 it" });
  }
  return parseYaml(readFileSync(file, "utf8"), file, schema).tokens.map(({ created_at: createdAt, ...token }) => ({
    ...token,
    createdAt,
  }));
}

/**
 * Adds a token and returns its text, which is kept nowhere: `tal_` and 43 characters.
 * @throws ConfigError where the name is taken or not allowed, where the file cannot be used, or while another process changes it.
 */
export function createClientToken(
  file: string,
  request: { readonly name: string; readonly role: ClientTokenRole },
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): string {
  const token = `tal_${random.bytes(32).toString("base64url")}`;
  change(file, (tokens) => {
    if (tokens.some(({ name }) => name === request.name)) {
      throw new ConfigError({
        file,
        problem: `there is a token named ${request.name} already`,
        hint: "revoke it first",
      });
    }
    const createdAt = new Date(clock.now()).toISOString();
    return [...tokens, { ...request, sha256: hashOfToken(token).toString("hex"), createdAt }];
  });
  return token;
}

/** Takes a token away; false where there is none of that name. @throws ConfigError as {@link createClientToken}. */
export function revokeClientToken(file: string, name: string): boolean {
  let found = readClientTokens(file).some((token) => token.name === name);
  if (!found) return false;
  change(file, (tokens) => {
    found = tokens.some((token) => token.name === name);
    return tokens.filter((token) => token.name !== name);
  });
  return found;
}

/** Replaces the file by renaming, so that a gateway that reads it meanwhile sees one whole state. */
function change(file: string, edit: (tokens: readonly ClientToken[]) => readonly ClientToken[]): void {
  const lock = `${file}.lock`;
  try {
    closeSync(openSync(lock, "wx", 0o600));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unknown error";
    if (code !== "EEXIST") {
      const hint = "check its folder, and who may write there";
      throw new ConfigError({ file, problem: `cannot be changed: ${code}`, hint }, { cause: error });
    }
    throw new ConfigError({
      file,
      problem: "is being changed by another process",
      hint: `if none runs, remove ${lock}`,
    });
  }
  const temporary = `${file}.next`;
  try {
    const tokens = edit(readClientTokens(file)).map(({ createdAt, ...token }) => ({ ...token, created_at: createdAt }));
    const text = stringify({ tokens });
    parseYaml(text, file, schema);
    writeFileSync(temporary, text, { mode: 0o600 });
    chmodSync(temporary, 0o600);
    renameSync(temporary, file);
  } finally {
    rmSync(temporary, { force: true });
    rmSync(lock, { force: true });
  }
}
