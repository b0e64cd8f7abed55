/** The packages behind the `acp` runtime, in a file of their own: a worker reads it only for an agent that is one of those. */
export { client, methods, ndJsonStream, PROTOCOL_VERSION, RequestError } from "@agentclientprotocol/sdk";
export type {
  ClientConnection,
  ContentBlock,
  InitializeResponse,
  PermissionOption,
  PromptResponse,
  RequestPermissionOutcome,
  RequestPermissionRequest,
  SessionUpdate,
  ToolCallContent,
  ToolCallUpdate,
} from "@agentclientprotocol/sdk";
