import { CliError } from "./cliError.js";
import type { Contexts, GatewayContext } from "./contexts/contextFile.js";

/** How a command reaches its gateway; each may come from the command line or the environment. */
export interface ConnectionOptions {
  /** The home whose socket is used; default as `TALARIA_HOME` says. */
  readonly home?: string;
  /** `unix:<path>`, `<host>:<port>` or `tls:<host>:<port>`; default the home's socket. */
  readonly address?: string;
  /** Token for TCP. */
  readonly token?: string;
  /** Name of a context. */
  readonly context?: string;
  /** File of certificates; turns TLS on. */
  readonly ca?: string;
  /** Pin of the gateway's key; turns TLS on. */
  readonly pin?: string;
}

/** Where a command goes. */
export type Endpoint =
  /** The socket of a home; undefined = as `TALARIA_HOME` says. */
  | { readonly kind: "home"; readonly home: string | undefined; readonly context: string | undefined }
  | {
      readonly kind: "address";
      readonly address: string;
      readonly token: string | undefined;
      /** Where the token comes from, for people; undefined where there is none. */
      readonly tokenSource: string | undefined;
      /** File of certificates. */
      readonly ca: string | undefined;
      readonly pin: string | undefined;
      /** Name of the context that was used; undefined for none. */
      readonly context: string | undefined;
    };

/** The context name that means this user's own home. */
export const LOCAL_CONTEXT = "local";

/**
 * Decides where a command goes. First wins: `--address`, `--context`, `--home`, then `TALARIA_ADDRESS`, `TALARIA_CONTEXT`,
 * `TALARIA_HOME`, the context in use, the home of the user. A token, certificates and a pin that are given apply to whatever is chosen.
 * @param contexts reads the user's contexts; called only where they may matter
 * @throws CliError NOT_FOUND for a context that does not exist.
 */
export function resolveEndpoint(
  options: ConnectionOptions,
  env: NodeJS.ProcessEnv,
  contexts: () => Contexts,
): Endpoint {
  const named = (name: string): GatewayContext => {
    const all = contexts().contexts;
    const found = name === LOCAL_CONTEXT ? {} : Object.hasOwn(all, name) ? all[name] : undefined;
    if (found !== undefined) return found;
    const names = Object.keys(all);
    throw new CliError(
      "NOT_FOUND",
      `There is no context named ${name}.`,
      names.length === 0
        ? "Add it with: talaria contexts add NAME --address ADDRESS"
        : `There are: ${names.join(", ")}. List them with: talaria contexts list`,
    );
  };
  const of = (name: string): Endpoint => fromContext(name, named(name), options, env);

  if (options.address !== undefined) return fromAddress(options.address, options, env);
  if (options.context !== undefined) return of(options.context);
  if (options.home !== undefined) return { kind: "home", home: options.home, context: undefined };
  if (env["TALARIA_ADDRESS"]) return fromAddress(env["TALARIA_ADDRESS"], options, env);
  if (env["TALARIA_CONTEXT"]) return of(env["TALARIA_CONTEXT"]);
  if (env["TALARIA_HOME"]) return { kind: "home", home: undefined, context: undefined };
  const { current } = contexts();
  return current === undefined ? { kind: "home", home: undefined, context: undefined } : of(current);
}

function fromAddress(address: string, options: ConnectionOptions, env: NodeJS.ProcessEnv): Endpoint {
  return {
    kind: "address",
    address,
    ...tokenOf(options, env, undefined),
    ca: options.ca,
    pin: options.pin,
    context: undefined,
  };
}

function fromContext(
  name: string,
  found: GatewayContext,
  options: ConnectionOptions,
  env: NodeJS.ProcessEnv,
): Endpoint {
  if (found.address === undefined) return { kind: "home", home: found.home, context: name };
  const trust = options.ca === undefined && options.pin === undefined ? found : options;
  return {
    kind: "address",
    address: found.address,
    ...tokenOf(options, env, found.token === undefined ? undefined : { name, token: found.token }),
    ca: trust.ca,
    pin: trust.pin,
    context: name,
  };
}

function tokenOf(
  options: ConnectionOptions,
  env: NodeJS.ProcessEnv,
  context: { readonly name: string; readonly token: string } | undefined,
): { readonly token: string | undefined; readonly tokenSource: string | undefined } {
  if (options.token !== undefined) return { token: options.token, tokenSource: "--token" };
  if (context !== undefined) return { token: context.token, tokenSource: `the context ${context.name}` };
  const fromEnv = env["TALARIA_TOKEN"];
  return fromEnv ? { token: fromEnv, tokenSource: "TALARIA_TOKEN" } : { token: undefined, tokenSource: undefined };
}

/** What to do about a refusal of who the caller is; undefined where there is nothing better than what the gateway says. */
export function accessHint(reason: string, endpoint: Endpoint): string | undefined {
  if (endpoint.kind === "home") return undefined;
  const { tokenSource, context } = endpoint;
  const store =
    context === undefined ? "give it with --token" : `store it: talaria contexts add ${context} --token-file FILE`;
  switch (reason) {
    case "UNAUTHENTICATED":
      return `Make a token on the gateway (talaria tokens create NAME) and ${store}.`;
    case "TOKEN_INVALID":
      return `The token comes from ${tokenSource ?? "nowhere"} and may have been revoked. Make another on the gateway (talaria tokens create NAME) and ${store}.`;
    case "PERMISSION_DENIED":
      return tokenSource === undefined
        ? undefined
        : `The token comes from ${tokenSource}. Make one of a role that allows it on the gateway (talaria tokens create NAME --role ROLE) and ${store}.`;
    default:
      return undefined;
  }
}
