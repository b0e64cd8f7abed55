import { expect, test } from "vitest";

import { PeerServiceService } from "../../src/gen/talaria/dm/v1/peer_service.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { ended, send, stateName } from "../dm/calls.js";
import { inviteOf, join } from "../dm/invites.js";
import { agentEntry } from "../dm/testGateway.js";
import { useGateways } from "../dm/useGateways.js";

const { two } = useGateways();

test("DM109 DM-R35 decide which agents it can see and reach", async () => {
  const agents = [agentEntry("alice", { main: true }), agentEntry("bob"), agentEntry("carl")];
  const { north, south } = await two({ agents });
  await join(south, await inviteOf(north, { grants: ["bob"] }));
  const caller = await north.callerAs(south.identity);
  const roster = async (): Promise<string[]> =>
    (await unaryCall(caller, PeerServiceService.listRoster, { caller: undefined, fingerprint: "" })).entries.map(
      ({ name }) => name,
    );
  expect(await roster()).toEqual(["bob"]);
  for (const target of ["north", "north/carl", "north/nobody"]) {
    const { delivery } = await send(south.client, { target });
    const end = await ended(south.client, delivery.deliveryId);
    expect([stateName(end), end.failure?.reason]).toEqual(["FAILED", 300]);
  }
  const reached = await send(south.client, { target: "north/bob" });
  expect(stateName(await ended(south.client, reached.delivery.deliveryId))).toBe("REPLIED");
  await north.dm.registry.update({ name: "south", grants: { agents: ["main", "carl"] } });
  expect(await roster()).toEqual(["alice", "carl"]);
  await north.dm.registry.update({ name: "south", grants: { agents: undefined } });
  expect(await roster()).toEqual(["alice", "bob", "carl"]);
});
