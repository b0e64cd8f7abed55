import { readFileSync } from "node:fs";

import type { ClientTokenRole } from "../../base/clientTokens.js";
import {
  clientTokensPath,
  createClientToken,
  readClientTokens,
  revokeClientToken,
  tokenUsesFile,
} from "../../base/clientTokens.js";
import { systemClock } from "../../base/clock.js";
import { loadGatewayConfig } from "../../base/config/gatewayConfig.js";
import { systemRandom } from "../../base/random.js";
import { CliError } from "../cliError.js";
import type { CommandContext } from "../commandContext.js";
import { homeOf } from "../homeOf.js";
import { table } from "../render/table.js";

/** The token file of the home. A running gateway looks at it at every call, so a change holds at once. */
function tokensFile(context: CommandContext): string {
  const { root, configFile } = homeOf(context);
  return clientTokensPath(root, loadGatewayConfig(configFile).clientTokensFile);
}

/** Makes a token and prints it. */
export async function tokensCreate(context: CommandContext, name: string, role: ClientTokenRole): Promise<void> {
  const ports = { clock: systemClock, random: systemRandom };
  const token = createClientToken(tokensFile(context), { name, role }, ports);
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
    lastUsed: uses[name] ?? "",
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

function readUses(file: string): Readonly<Record<string, string>> {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Record<string, string>;
  } catch {
    return {};
  }
}
