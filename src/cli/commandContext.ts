import { newId } from "../base/ids.js";
import { systemRandom } from "../base/random.js";
import type { ConnectionOptions, GatewayClient } from "./gatewayClient.js";
import type { Terminal } from "./terminal.js";

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
  /** Prints a value: as JSON where that is asked for, else `text`. */
  print(value: unknown, text: () => string): void;
  /** Lets go of the gateway. */
  close(): void;
}

/** Makes the context of one command. */
export function createCommandContext(
  options: ConnectionOptions & { readonly json?: boolean },
  terminal: Terminal,
): CommandContext {
  let connected: Promise<GatewayClient> | undefined;
  const json = options.json ?? false;
  return {
    terminal,
    options,
    json,
    gateway: () =>
      (connected ??= import("./gatewayClient.js").then(({ connectGateway }) => connectGateway(options, terminal.env))),
    newRequestId: () => newId("req", systemRandom),
    print(value, text) {
      terminal.out(`${json ? JSON.stringify(value) : text()}\n`);
    },
    close() {
      connected?.then(
        (client) => {
          client.close();
        },
        () => undefined,
      );
    },
  };
}
