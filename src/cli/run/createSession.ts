import { OnUnknown, type Session } from "../../gen/talaria/gateway/v1/session.js";
import { SessionServiceService } from "../../gen/talaria/gateway/v1/session_service.js";
import { CliError } from "../cliError.js";
import type { GatewayClient } from "../gatewayClient.js";

/** A session as typed: its agent, its title, and what it is created without. */
export interface NewSession {
  readonly agent: string;
  readonly title: string | undefined;
  readonly safeMode: boolean | undefined;
  readonly ignoreUserConfig: boolean | undefined;
  readonly ignoreRules: boolean | undefined;
}

/** Creates a session; repeated with its key, it is the same one. @throws RpcError UNKNOWN_AGENT among others. */
export async function createSession(
  gateway: GatewayClient,
  requestId: string,
  { agent, title = "", safeMode = false, ignoreUserConfig = false, ignoreRules = false }: NewSession,
): Promise<Session> {
  const onUnknown = OnUnknown.ON_UNKNOWN_UNSPECIFIED;
  const request = { requestId, agent, title, onUnknown, safeMode, ignoreUserConfig, ignoreRules };
  const { session } = await gateway.call(SessionServiceService.createSession, request);
  if (session === undefined) throw new CliError("UNKNOWN_ERROR", "The gateway named no session.", "Try again.");
  return session;
}
