import { existsSync, readFileSync } from "node:fs";

import type { ClientTokenRole } from "../../base/clientTokens.js";
import {
  clientTokensPath,
  createClientToken,
  readClientTokens,
  revokeClientToken,
  TOKEN_NAME,
  tokenUsesFile,
} from "../../base/clientTokens.js";
import { systemClock } from "../../base/clock.js";
import { loadGatewayConfig } from "../../base/config/gatewayConfig.js";
import { systemRandom } from "../../base/random.js";
import { CliError } from "../cliError.js";
import type { CommandContext } from "../commandContext.js";
import { homeOf } from "../homeOf.js";
import { table } from "../render/table.js";

/** The token file of the home. A running gateway looks at it at every call, so a change holds at once. @throws CliError NOT_FOUND without a home. */
function tokensFile(context: CommandContext): string {
  const { root, configFile } = homeOf(context);
  if (!existsSync(root)) {
    throw new CliError("NOT_FOUND", `There is no home at ${root}.`, "Name the gateway's home with --home.");
  }
  return clientTokensPath(root, loadGatewayConfig(configFile).clientTokensFile);
}

/** Makes a token and prints it. @throws CliError INVALID_FIELD, ALREADY_EXISTS, NOT_FOUND; ConfigError. */
export async function tokensCreate(context: CommandContext, name: string, role: ClientTokenRole): Promise<void> {
  const ports = { clock: systemClock, random: systemRandom };
  if (!TOKEN_NAME.test(name)) {
    const hint = "Use up to 64 letters, digits, dots, dashes and underscores, beginning with a letter or a digit.";
    throw new CliError("INVALID_FIELD", `${JSON.stringify(name)} cannot name a token.`, hint);
  }
  const file = tokensFile(context);
  if (readClientTokens(file).some((token) => token.name === name)) {
    const hint = `Choose another name, or take that one back first: talaria tokens revoke ${name}`;
    throw new CliError("ALREADY_EXISTS", `There is a token named ${name} already.`, hint);
  }
  const token = createClientToken(file, { name, role }, ports);
  context.print({ name, role, token }, () => token);
}

/** Lists the tokens. */
export async function tokensList(context: CommandContext): Promise<void> {
  const file = tokensFile(context);
  const uses = readUses(tokenUsesFile(file));
  const tokens = readClientTokens(file).map(({ name, role, createdAt }) => ({
    name,
    role,
    createdAt,
    lastUsed: useSince(createdAt, uses[name]),
  }));
  context.print(tokens, (columns) =>
    table(
      ["NAME", "ROLE", "CREATED", "LAST USED"],
      tokens.map(({ name, role, createdAt, lastUsed }) => [name, role, createdAt, lastUsed || "never"]),
      columns,
    ),
  );
}

/** Takes a token back. @throws CliError NOT_FOUND. */
export async function tokensRevoke(context: CommandContext, name: string): Promise<void> {
  if (!revokeClientToken(tokensFile(context), name)) {
    throw new CliError("NOT_FOUND", `There is no token named ${name}.`, "List them with: talaria tokens list");
  }
  context.print({ revoked: name }, () => `${name} was revoked.`);
}

/** A use before the token was made was of another one of its name. */
function useSince(createdAt: string, used = ""): string {
  return used >= createdAt ? used : "";
}

function readUses(file: string): Readonly<Record<string, string>> {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Record<string, string>;
  } catch {
    return {};
  }
}
