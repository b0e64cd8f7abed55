import { newId } from "../base/ids.js";
import { systemRandom } from "../base/random.js";
import { reasonEntry } from "../rpc/reasons.js";
import { RpcError } from "../rpc/rpcError.js";
import { commandHint } from "./commandHint.js";
import type { ConnectionOptions } from "./endpoint.js";
import { accessHint } from "./endpoint.js";
import type { GatewayClient } from "./gatewayClient.js";
import { printable } from "./render/printable.js";
import type { Terminal } from "./terminal.js";

/** What compiled code is kept for: what `serve` compiles is of no use to a command that talks to a gateway, and costs it time. */
export type CodeUse = "serve" | "command";

/** Keeps what has been compiled for later starts. */
export type KeepCode = (use: CodeUse) => void;

/** What a command works with. */
export interface CommandContext {
  readonly terminal: Terminal;
  /** See {@link ConnectionOptions}. */
  readonly options: ConnectionOptions;
  /** Whether JSON is asked for. */
  readonly json: boolean;
  /** The gateway; connected on first use. @throws CliError where none runs. */
  gateway(): Promise<GatewayClient>;
  /** A key for a request that changes something. */
  newRequestId(): string;
  /** Prints a value: as JSON where that is asked for, else `text`, which is told the width of a terminal in columns. What is in it steers no terminal. */
  print(value: unknown, text: (columns: number | undefined) => string): void;
  /** An error as this command should report it: a refused caller is told where its token comes from. */
  explain(caught: unknown): unknown;
  /** Keeps the compiled code for later starts of `serve`; called when it serves. */
  keepServeCode(): void;
  /** Lets go of the gateway. */
  close(): void;
}

/** Makes the context of one command. */
export function createCommandContext(
  options: ConnectionOptions & { readonly json?: boolean },
  terminal: Terminal,
  keepCode: KeepCode,
): CommandContext {
  let connected: Promise<GatewayClient> | undefined;
  let explain = (caught: unknown): unknown => caught;
  const json = options.json ?? false;
  const connect = async (): Promise<GatewayClient> => {
    const { connectGateway, endpointOf } = await import("./gatewayClient.js");
    const endpoint = endpointOf(options, terminal.env);
    explain = (caught) => {
      if (!(caught instanceof RpcError)) return caught;
      // What the gateway says of this very case is better than what is said of all of them.
      const general = caught.hint === reasonEntry(caught.reason).hint ? commandHint(caught.reason) : undefined;
      const hint = accessHint(caught.reason, endpoint) ?? general;
      if (hint === undefined) return caught;
      return new RpcError(caught.reason, { message: caught.message, hint, ...caught.details, cause: caught });
    };
    return connectGateway(endpoint, terminal.env);
  };
  return {
    terminal,
    options,
    json,
    gateway: () => (connected ??= connect()),
    newRequestId: () => newId("req", systemRandom),
    print(value, text) {
      const shown = json ? JSON.stringify(value) : text(terminal.columns);
      terminal.out(`${terminal.outIsTerminal ? printable(shown) : shown}\n`);
    },
    explain: (caught) => explain(caught),
    keepServeCode() {
      keepCode("serve");
    },
    close() {
      connected?.then(
        (client) => {
          client.close();
          keepCode("command");
        },
        () => undefined,
      );
    },
  };
}
