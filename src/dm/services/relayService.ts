import { RelayServiceService } from "../../gen/talaria/dm/v1/relay_service.js";
import { implementService, type ServiceImplementation } from "../../rpc/harness/implementService.js";
import { defineBidi } from "../../rpc/harness/methods.js";
import { reasonError } from "../../rpc/rpcError.js";
import type { ConnectorDirectory } from "../relay/connectorDirectory.js";
import type { RelayTransport } from "../transports/relay/relayTransport.js";

/** Serves relay connectors. A connector is known by its key; whatever it says of itself, its name is the one paired here. */
export function createRelayService(
  transport: Pick<RelayTransport, "serve">,
  connectors: ConnectorDirectory,
): ServiceImplementation {
  return implementService(RelayServiceService, {
    connect: defineBidi({
      async handle(stream, { principal, connection }) {
        if (principal.kind !== "connector") throw reasonError("PEER_KEY_UNKNOWN");
        if (connectors.get(principal.name) === undefined) throw reasonError("PEER_REVOKED");
        await transport.serve(principal.name, stream, () => {
          connection.destroy();
        });
      },
    }),
  });
}
