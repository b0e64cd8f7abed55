import type { Register } from "../commandKit.js";

/** Adds `relay` and `pin`. */
export const addRelayCommands: Register = (program, { run, example }) => {
  const relay = program.command("relay").description("join a machine that cannot be dialled to a gateway");
  run(
    example(
      relay
        .command("connect")
        .description("connect this machine beside its own gateway, and stay connected")
        .requiredOption("--hub <address>", "<host>:<port> where the gateway that relays listens for peers")
        .requiredOption("--pin <pin>", "pin of that gateway's key"),
      "relay connect --hub example.org:7421 --pin sha256:...",
    ),
    async (context, options: { hub: string; pin: string }) =>
      (await import("../commands/relay.js")).relayConnect(context, options),
  );
  run(
    example(
      relay
        .command("status")
        .description(
          "show a gateway's connectors: whether each is there, what waits for it and what it holds under lease",
        ),
      "relay status",
    ),
    async (context) => (await import("../commands/relayStatus.js")).relayStatus(context),
  );
  run(
    example(
      relay
        .command("pair")
        .description("redeem a connector's invite with the home's key")
        .argument("<code>", "what talaria peers invite --connector printed on the gateway that relays")
        .option("--name <name>", "name to propose for this machine; default the home's"),
      "relay pair tal1....",
    ),
    async (context, code: string, options: { name?: string }) =>
      (await import("../commands/relayPair.js")).relayPair(context, code, options),
  );
  run(
    example(
      program.command("pin").description("print the pin of the home's key, for the configuration of a peer"),
      "pin",
    ),
    async (context) => (await import("../commands/pin.js")).pin(context),
  );
};
