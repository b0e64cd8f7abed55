import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { text as readAll } from "node:stream/consumers";

import { parseAddress } from "../../client/address.js";
import { parsePin } from "../../rpc/tls/pin.js";
import { CliError } from "../cliError.js";
import type { CommandContext } from "../commandContext.js";
import type { GatewayContext } from "../contexts/contextFile.js";
import { contextsPath, readContexts, writeContexts } from "../contexts/contextFile.js";
import { LOCAL_CONTEXT } from "../endpoint.js";
import { table } from "../render/table.js";

/** A context as typed; the connection itself comes from the global options. */
export interface ContextAddOptions {
  /** File that holds the token, `-` for standard input. */
  readonly tokenFile?: string;
  /** Whether it shall be the one in use. */
  readonly use?: boolean;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Stores a gateway under a name; one of the same name is replaced, except for what is not given again. */
export async function contextsAdd(context: CommandContext, name: string, options: ContextAddOptions): Promise<void> {
  if (!NAME.test(name) || name === LOCAL_CONTEXT) {
    const hint = `Use letters, digits, dots, dashes and underscores; ${LOCAL_CONTEXT} always means your own home.`;
    throw new CliError("INVALID_FIELD", `${JSON.stringify(name)} cannot name a context.`, hint);
  }
  const file = contextsPath(context.terminal.env);
  const known = readContexts(file);
  const before = Object.hasOwn(known.contexts, name) ? known.contexts[name] : undefined;
  const added = await contextOf(context, options, before);
  const current = options.use === true ? name : known.current;
  writeContexts(file, {
    ...(current === undefined ? {} : { current }),
    contexts: { ...known.contexts, [name]: added },
  });
  context.print(shown(name, added, current), () => `${name} ${added.address ?? added.home ?? ""}`);
}

async function contextOf(
  { options: given }: CommandContext,
  { tokenFile }: ContextAddOptions,
  before: GatewayContext | undefined,
): Promise<GatewayContext> {
  const { address, home, ca, pin } = given;
  const token = tokenFile === undefined ? given.token : await readToken(tokenFile);
  if (address !== undefined && home !== undefined) {
    throw new CliError("INVALID_FIELD", "A context is an address or a home.", "Give --address or --home.");
  }
  if (pin !== undefined && parsePin(pin) === undefined) {
    throw new CliError("INVALID_FIELD", "The pin is none.", "Copy it from talaria pin on the gateway.");
  }
  if (address !== undefined) parseAddress(address);
  const place = address !== undefined ? { address } : home !== undefined ? { home: resolve(home) } : placeOf(before);
  if (place === undefined) {
    throw new CliError(
      "INVALID_FIELD",
      "A context needs an address.",
      "Give --address <host>:<port>, or --home <dir>.",
    );
  }
  const trust = ca === undefined && pin === undefined ? { ca: before?.ca, pin: before?.pin } : { ca, pin };
  const kept = token ?? before?.token;
  return {
    ...place,
    ...(kept === undefined ? {} : { token: kept }),
    ...(trust.ca === undefined ? {} : { ca: resolve(trust.ca) }),
    ...(trust.pin === undefined ? {} : { pin: trust.pin }),
  };
}

function placeOf(before: GatewayContext | undefined): { address: string } | { home: string } | undefined {
  if (before?.address !== undefined) return { address: before.address };
  return before?.home === undefined ? undefined : { home: before.home };
}

async function readToken(file: string): Promise<string> {
  try {
    const text = file === "-" ? await readAll(process.stdin) : readFileSync(file, "utf8");
    if (/^\S+$/.test(text.trim())) return text.trim();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unknown error";
    throw new CliError("CONFIG_INVALID", `The token in ${file} cannot be read: ${code}.`, "Check the path.", {
      cause: error,
    });
  }
  throw new CliError(
    "CONFIG_INVALID",
    `${file} does not hold a token.`,
    "Put what talaria tokens create printed there.",
  );
}

/** Takes a context as the one in use; `local` goes back to this user's own home. @throws CliError NOT_FOUND. */
export async function contextsUse(context: CommandContext, name: string): Promise<void> {
  const file = contextsPath(context.terminal.env);
  const { contexts } = readContexts(file);
  if (name !== LOCAL_CONTEXT) existing(contexts, name);
  writeContexts(file, { ...(name === LOCAL_CONTEXT ? {} : { current: name }), contexts });
  context.print({ current: name }, () => `${name} is in use.`);
}

/** Lists the contexts, without their tokens. */
export async function contextsList(context: CommandContext): Promise<void> {
  const { current, contexts } = readContexts(contextsPath(context.terminal.env));
  const rows = Object.entries(contexts).map(([name, one]) => shown(name, one, current));
  context.print(rows, (columns) =>
    table(
      ["CONTEXT", "WHERE", "TOKEN", "TLS"],
      [
        [current === undefined ? `${LOCAL_CONTEXT} *` : LOCAL_CONTEXT, "the home of this user", "", ""],
        ...rows.map(({ name, where, hasToken, tls, inUse }) => [
          inUse ? `${name} *` : name,
          where,
          hasToken ? "yes" : "",
          tls,
        ]),
      ],
      columns,
    ),
  );
}

/** Forgets a context with its token. @throws CliError NOT_FOUND. */
export async function contextsRemove(context: CommandContext, name: string): Promise<void> {
  const file = contextsPath(context.terminal.env);
  const { current, contexts } = readContexts(file);
  existing(contexts, name);
  const left = Object.fromEntries(Object.entries(contexts).filter(([one]) => one !== name));
  writeContexts(file, { ...(current === undefined || current === name ? {} : { current }), contexts: left });
  context.print({ removed: name }, () => `${name} was removed.`);
}

function existing(contexts: Readonly<Record<string, GatewayContext>>, name: string): void {
  if (Object.hasOwn(contexts, name)) return;
  throw new CliError("NOT_FOUND", `There is no context named ${name}.`, "List them with: talaria contexts list");
}

function shown(name: string, one: GatewayContext, current: string | undefined) {
  const tls =
    one.pin !== undefined ? "pin" : one.ca !== undefined ? "ca" : one.address?.startsWith("tls:") ? "yes" : "";
  return {
    name,
    where: one.address ?? one.home ?? "",
    hasToken: one.token !== undefined,
    tls,
    inUse: current === name,
  };
}
