/** The packages behind the `acp` runtime, in a file of their own: a worker reads it only for an agent that is one of those. */
export { ClientSideConnection, ndJsonStream, PROTOCOL_VERSION } from "@agentclientprotocol/sdk";
