/** The package's entry `talaria/client`: a typed client of a gateway. See docs/clients.md. */
export {
  connectTalaria,
  type Abortable,
  type MessageInput,
  type PromptAnswer,
  type Talaria,
  type TurnInput,
  type WatchOptions,
} from "./talaria.js";
export type { TalariaCallOptions, TalariaClientOptions } from "./talariaClient.js";
export type { GatewayEndpoint } from "./connectGateway.js";
export type { TlsTrust } from "./tlsCredentials.js";
export { DEFAULT_RETRY_POLICY, type RetryPolicy } from "./retryPolicy.js";
export type { TurnStep } from "./turnSteps.js";
export { RpcError as TalariaError } from "../rpc/rpcError.js";
export { reasonEntry, type Reason } from "../rpc/reasons.js";
export { type Delivery, DeliveryState } from "../gen/talaria/dm/v1/delivery.js";
export { DirectMessageServiceService as DirectMessageService } from "../gen/talaria/dm/v1/direct_message_service.js";
export { AdminServiceService as AdminService } from "../gen/talaria/gateway/v1/admin_service.js";
export type { WatchEventsResponse } from "../gen/talaria/gateway/v1/admin_service.js";
export { type Agent, AgentServiceService as AgentService } from "../gen/talaria/gateway/v1/agent_service.js";
export type { Session } from "../gen/talaria/gateway/v1/session.js";
export { SessionServiceService as SessionService } from "../gen/talaria/gateway/v1/session_service.js";
export {
  type SessionUpdate,
  type Turn,
  TurnPhase,
  TurnServiceService as TurnService,
} from "../gen/talaria/gateway/v1/turn_service.js";
export type { Cursor } from "../gen/talaria/types/v1/cursor.js";
export type { Failure } from "../gen/talaria/types/v1/failure.js";
export { ApprovalChoice, type Prompt, PromptEnd } from "../gen/talaria/types/v1/prompt.js";
export { TurnOutcome } from "../gen/talaria/types/v1/result.js";
