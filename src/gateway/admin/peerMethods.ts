import { hostname } from "node:os";
import { z } from "zod";

import { isName } from "../../base/ids.js";
import { dialableAddress, splitAddress } from "../../dm/pairing/peerAddress.js";
import type {
  CreateInviteRequest,
  CreateInviteResponse,
  HoldDestinationRequest,
  HoldDestinationResponse,
  JoinPeerRequest,
  JoinPeerResponse,
  ReleaseDestinationRequest,
  ReleaseDestinationResponse,
  RevokePeerRequest,
  RevokePeerResponse,
  UpdatePeerRequest,
  UpdatePeerResponse,
} from "../../gen/talaria/gateway/v1/admin_service.js";
import { defineUnary } from "../../rpc/harness/methods.js";
import { describePrincipal } from "../../rpc/principal.js";
import { reasonError } from "../../rpc/rpcError.js";
import { toTimestamp } from "../../rpc/wire/times.js";
import { lineField, requestIdField } from "../edge/fields.js";
import type { OpenListener } from "../gatewayListeners.js";
import type { DmRoom } from "../ports.js";

/** Most agents that a grant names. */
const GRANTS_MAX = 1_000;

const nameField = z.string().refine(isName, "must match [a-z0-9][a-z0-9_-]{0,63}");
const emptyOr = (field: z.ZodType<string, string>) => z.literal("").or(field);
const addressField = emptyOr(z.string().refine((text) => splitAddress(text) !== undefined, "must be host:port"));
const agentsField = z.array(nameField).max(GRANTS_MAX, `must name at most ${String(GRANTS_MAX)}`);

/** The methods of AdminService that change peers and destinations. */
export function peerMethods({ registry, overview }: DmRoom, listeners: () => readonly OpenListener[]) {
  const peerListener = () => listeners().find(({ name }) => name === "peers")?.listener;
  return {
    createInvite: defineUnary<CreateInviteRequest, CreateInviteResponse>({
      schema: z.object({
        requestId: requestIdField,
        name: emptyOr(nameField),
        address: addressField,
        agents: agentsField,
        connector: z.boolean(),
      }),
      async handle({ requestId, name, address, agents, connector }, { principal }) {
        const { code, expiresAt } = await registry.invite({
          principal: describePrincipal(principal),
          requestId,
          name,
          address: address === "" ? addressOf(peerListener()) : address,
          grants: grantsOf(agents),
          connector,
        });
        return { code, expiresAt: toTimestamp(expiresAt) };
      },
    }),
    joinPeer: defineUnary<JoinPeerRequest, JoinPeerResponse>({
      schema: z.object({ requestId: requestIdField, code: z.string().max(2_048), name: emptyOr(nameField) }),
      async handle({ requestId, code, name }) {
        // A wildcard is told as it is: the other side replaces it by the host that it sees us come from.
        const ownAddress = peerListener()?.address ?? "";
        const peer = await registry.join({ requestId, code, name, ownAddress });
        return { peer: overview.peer(peer.name) };
      },
    }),
    updatePeer: defineUnary<UpdatePeerRequest, UpdatePeerResponse>({
      schema: z.object({
        requestId: requestIdField,
        name: nameField,
        address: addressField,
        setAgents: z.boolean(),
        agents: agentsField,
      }),
      async handle({ name, address, setAgents, agents }) {
        await registry.update({
          name,
          ...(address === "" ? {} : { address }),
          ...(setAgents ? { grants: { agents: grantsOf(agents) } } : {}),
        });
        return { peer: overview.peer(name) };
      },
    }),
    revokePeer: defineUnary<RevokePeerRequest, RevokePeerResponse>({
      schema: z.object({ requestId: requestIdField, name: nameField }),
      async handle({ name }) {
        const connectionsCut = await registry.revoke(name, (pin) => {
          const open = peerListener()?.connections.list() ?? [];
          const cut = open.filter(({ identity }) => identity?.pin === pin);
          for (const connection of cut) connection.destroy();
          return cut.length;
        });
        return { connectionsCut };
      },
    }),
    holdDestination: defineUnary<HoldDestinationRequest, HoldDestinationResponse>({
      schema: z.object({ requestId: requestIdField, name: nameField, reason: lineField(1, 1_024) }),
      async handle({ name, reason }, { principal }) {
        await registry.hold(name, describePrincipal(principal), reason);
        return { destination: overview.destination(name) };
      },
    }),
    releaseDestination: defineUnary<ReleaseDestinationRequest, ReleaseDestinationResponse>({
      schema: z.object({ requestId: requestIdField, name: nameField, keepHold: z.boolean() }),
      async handle({ name, keepHold }, { principal }) {
        await registry[keepHold ? "reset" : "release"](name, describePrincipal(principal));
        return { destination: overview.destination(name) };
      },
    }),
  };
}

/** The list of a request as it is stored: an empty one grants everything that is not private. */
function grantsOf(agents: readonly string[]): readonly string[] | undefined {
  return agents.length === 0 ? undefined : agents;
}

function addressOf(listener: { readonly address: string } | undefined): string {
  if (listener !== undefined) return dialableAddress(listener.address, hostname());
  throw reasonError("FAILED_PRECONDITION", undefined, {
    message: "This gateway does not listen for peers.",
    hint: "Add listeners.peers to talaria.yaml and restart it; or name an address that leads to it.",
  });
}
