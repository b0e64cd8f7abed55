import type { Register } from "../commandKit.js";
import type { InviteOptions, PeerUpdateOptions } from "../commands/peers.js";

/** Adds `peers` and `destinations`. */
export const addPeerCommands: Register = (program, { run, example }) => {
  const peers = program.command("peers").alias("peer").description("pair with other gateways, list and revoke them");
  run(
    example(
      peers
        .command("invite")
        .description("make an invite and print its code; it is good once, for ten minutes")
        .option("--name <name>", "what the other gateway will be called here (default: what it calls itself)")
        .option("--address <address>", "where it shall dial, <host>:<port> (default: the peer listener)")
        .option("--agent <agent...>", "the agents that it may reach (default: all that are not private)")
        .option("--connector", "invite a relay connector"),
      "peers invite --name laptop",
    ),
    async (context, options: InviteOptions) => (await import("../commands/peers.js")).peersInvite(context, options),
  );
  run(
    example(
      peers
        .command("join <code>")
        .description("pair with the gateway whose invite this is")
        .option("--name <name>", "what it will be called here (default: what it calls itself)"),
      "peers join tal1.... --name office",
    ),
    async (context, code: string, options: { name?: string }) =>
      (await import("../commands/peers.js")).peersJoin(context, code, options),
  );
  run(
    example(peers.command("list", { isDefault: true }).description("list peers and connectors"), "peers list"),
    async (context) => (await import("../commands/peers.js")).peersList(context),
  );
  run(
    example(
      peers
        .command("update <peer>")
        .description("change a peer's address or the agents that it may reach")
        .option("--address <address>", "where it listens, <host>:<port>")
        .option("--agent <agent...>", "the agents that it may reach")
        .option("--all-agents", "it may reach all that are not private"),
      "peers update laptop --agent main",
    ),
    async (context, name: string, options: PeerUpdateOptions) =>
      (await import("../commands/peers.js")).peersUpdate(context, name, options),
  );
  run(
    example(
      peers.command("revoke <peer>").description("end a pairing: cut it at once and end the messages to it"),
      "peers revoke laptop",
    ),
    async (context, name: string) => (await import("../commands/peers.js")).peersRevoke(context, name),
  );

  const destinations = program.command("destinations").description("see, hold, release and reset where messages go");
  run(
    example(
      destinations.command("list", { isDefault: true }).description("list the gateways that messages go to"),
      "destinations list",
    ),
    async (context) => (await import("../commands/destinations.js")).destinationsList(context),
  );
  run(
    example(
      destinations
        .command("hold <destination> <reason...>")
        .description("keep its messages waiting; who, when and why are kept"),
      "destinations hold laptop It is being moved",
    ),
    async (context, name: string, reason: string[]) =>
      (await import("../commands/destinations.js")).destinationsHold(context, name, reason.join(" ")),
  );
  run(
    example(
      destinations.command("release <destination>").description("end a hold, and try the destination at once"),
      "destinations release laptop",
    ),
    async (context, name: string) => (await import("../commands/destinations.js")).destinationsRelease(context, name),
  );
  run(
    example(
      destinations
        .command("reset <destination>")
        .description("forget its failures and try it at once; a hold stays; who and when are kept"),
      "destinations reset laptop",
    ),
    async (context, name: string) => (await import("../commands/destinations.js")).destinationsReset(context, name),
  );
};
