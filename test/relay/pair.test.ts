import { expect, test } from "vitest";

import { systemClock } from "../../src/base/clock.js";
import { systemRandom } from "../../src/base/random.js";
import { pairConnector } from "../../src/connector/pairConnector.js";
import { formatInvite, parseInvite } from "../../src/rpc/inviteCode.js";
import { ephemeralIdentity } from "../../src/rpc/tls/identityKey.js";
import { leafSource } from "../../src/rpc/tls/leafCertificate.js";
import { refusal } from "../dm/calls.js";
import type { TestGateway } from "../dm/testGateway.js";
import { useGateways } from "../dm/useGateways.js";

const { one } = useGateways();

async function hub(connector: boolean): Promise<{ readonly gateway: TestGateway; readonly code: string }> {
  const gateway = await one({ name: "hub" });
  const address = gateway.peerAddress;
  const invite = { principal: "client:cli", requestId: "one", name: "", address, grants: undefined, connector };
  return { gateway, code: (await gateway.dm.registry.invite(invite)).code };
}

async function pair(code: string) {
  const identity = await ephemeralIdentity(systemClock.now());
  const leaves = await leafSource(identity, () => systemClock.now());
  const pairing = { code, name: "laptop", leaves, clock: systemClock, random: systemRandom };
  return { identity, paired: await pairConnector(pairing) };
}

test("a connector that redeems its invite is known by its key, and is told where to connect", async () => {
  const { gateway, code } = await hub(true);
  const { identity, paired } = await pair(code);
  expect(paired).toEqual({ name: "laptop", hub: gateway.peerAddress, pin: gateway.identity.pin });
  expect(gateway.book.named("laptop")).toMatchObject({ connector: true, pin: identity.pin });
  expect(await refusal(pair(code))).toMatchObject({ reason: "INVITE_EXPIRED" });
});

test("a gateway's invite, another key's and a mistyped one pair no connector", async () => {
  const { gateway, code } = await hub(false);
  expect(await refusal(pair(code))).toMatchObject({ reason: "INVITE_INVALID" });
  const parsed = parseInvite(code);
  if (parsed.kind !== "invite") throw new Error("no invite");
  const { pin } = await ephemeralIdentity(systemClock.now());
  expect(await refusal(pair(formatInvite({ ...parsed.invite, pin })))).toMatchObject({ reason: "PEER_PIN_MISMATCH" });
  expect(await refusal(pair(`${code}x`))).toMatchObject({ reason: "INVITE_INVALID" });
  expect(await refusal(pair("hello"))).toMatchObject({ reason: "INVITE_INVALID" });
  expect(gateway.book.everyone()).toEqual([]);
});
