import type { TestGateway } from "./testGateway.js";

let requests = 0;

/** A request id that no other call has. */
export function request(): string {
  requests += 1;
  return `req-${String(requests)}`;
}

/** Makes an invite of a gateway. @returns its code */
export async function inviteOf(gateway: TestGateway, more: { name?: string; grants?: readonly string[] } = {}) {
  const { code } = await gateway.dm.registry.invite({
    principal: "client:cli",
    requestId: request(),
    name: more.name ?? "",
    address: gateway.peerAddress,
    grants: more.grants,
    connector: false,
  });
  return code;
}

/** Redeems an invite. */
export function join(gateway: TestGateway, code: string, name = "") {
  return gateway.dm.registry.join({ requestId: request(), code, name, ownAddress: gateway.peerAddress });
}

/** What cuts the connections of a key in a gateway. */
export function cutIn(gateway: TestGateway): (pin: string) => number {
  return (pin) => {
    const cut = gateway.listeners.flatMap(({ connections }) =>
      connections.list().filter(({ identity }) => identity?.pin === pin),
    );
    for (const connection of cut) connection.destroy();
    return cut.length;
  };
}

/** Resolves once a gateway is connected to a peer. */
export const linked = (gateway: TestGateway, peer: string): Promise<true> =>
  gateway.until(`${peer} is connected`, () => (gateway.dm.wayTo(peer)?.connected === true ? true : undefined));
