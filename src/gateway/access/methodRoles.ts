import type { ClientRole } from "../../rpc/principal.js";

const agents = "/talaria.gateway.v1.AgentService/";
const sessions = "/talaria.gateway.v1.SessionService/";
const turns = "/talaria.gateway.v1.TurnService/";
const admin = "/talaria.gateway.v1.AdminService/";
const messages = "/talaria.dm.v1.DirectMessageService/";

/** The least role that each method of the client listeners asks for. A method that is not here is served to nobody. */
export const METHOD_ROLES: Readonly<Record<string, ClientRole>> = {
  [`${agents}ListAgents`]: "reader",
  [`${agents}GetAgent`]: "reader",
  [`${agents}ListTeammates`]: "reader",
  [`${agents}ListGrants`]: "reader",
  [`${agents}RevokeGrant`]: "operator",

  [`${sessions}ListSessions`]: "reader",
  [`${sessions}GetSession`]: "reader",
  [`${sessions}CreateSession`]: "client",
  [`${sessions}ReadTranscript`]: "reader",
  [`${sessions}RenameSession`]: "client",
  [`${sessions}UpdateSession`]: "client",
  [`${sessions}ResetSession`]: "client",
  [`${sessions}ExportSession`]: "reader",
  [`${sessions}DeleteSession`]: "operator",

  [`${turns}RunTurn`]: "client",
  [`${turns}WatchSession`]: "reader",
  [`${turns}GetTurn`]: "reader",
  [`${turns}StopTurn`]: "client",
  [`${turns}CancelInput`]: "client",
  [`${turns}ListPrompts`]: "reader",
  [`${turns}AnswerPrompt`]: "client",
  [`${turns}AcknowledgeUnknown`]: "client",
  [`${turns}UploadAttachment`]: "client",

  [`${admin}GetStatus`]: "reader",
  [`${admin}ListWorkers`]: "reader",
  [`${admin}WatchEvents`]: "reader",
  [`${admin}ListPeers`]: "reader",
  [`${admin}CreateInvite`]: "operator",
  [`${admin}JoinPeer`]: "operator",
  [`${admin}UpdatePeer`]: "operator",
  [`${admin}RevokePeer`]: "operator",
  [`${admin}ListDestinations`]: "reader",
  [`${admin}HoldDestination`]: "operator",
  [`${admin}ReleaseDestination`]: "operator",
  [`${admin}ListUsage`]: "reader",
  [`${admin}LiftBudget`]: "operator",
  [`${admin}Reload`]: "operator",
  [`${admin}Backup`]: "operator",
  [`${admin}Drain`]: "operator",

  [`${messages}SendDirectMessage`]: "client",
  [`${messages}GetDelivery`]: "reader",
  [`${messages}ListDeliveries`]: "reader",
  [`${messages}WatchDelivery`]: "reader",
  [`${messages}CancelDelivery`]: "client",
  [`${messages}RedriveDelivery`]: "operator",

  "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo": "reader",
  "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": "reader",
};

const RANK: Readonly<Record<ClientRole, number>> = { reader: 0, client: 1, operator: 2 };

/** Whether `role` may do all that `needed` may. */
export function roleIncludes(role: ClientRole, needed: ClientRole): boolean {
  return RANK[role] >= RANK[needed];
}

/** Whether a method belongs to the health service, which everybody may call: probes have no token. */
export function isHealthMethod(method: string): boolean {
  return method.startsWith("/grpc.health.v1.Health/");
}
