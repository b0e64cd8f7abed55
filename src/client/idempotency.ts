import { DirectMessageServiceDefinition } from "../gen/talaria/dm/v1/direct_message_service.js";
import { AdminServiceDefinition } from "../gen/talaria/gateway/v1/admin_service.js";
import { AgentServiceDefinition } from "../gen/talaria/gateway/v1/agent_service.js";
import { SessionServiceDefinition } from "../gen/talaria/gateway/v1/session_service.js";
import { TurnServiceDefinition } from "../gen/talaria/gateway/v1/turn_service.js";

interface Definition {
  readonly fullName: string;
  readonly methods: Readonly<
    Record<string, { readonly name: string; readonly options: { readonly idempotencyLevel?: string } }>
  >;
}

const definitions: readonly Definition[] = [
  TurnServiceDefinition,
  SessionServiceDefinition,
  AgentServiceDefinition,
  AdminServiceDefinition,
  DirectMessageServiceDefinition,
];

const repeatable = new Set(
  definitions.flatMap(({ fullName, methods }) =>
    Object.values(methods)
      .filter(({ options: { idempotencyLevel } }) => /^(IDEMPOTENT|NO_SIDE_EFFECTS)$/.test(idempotencyLevel ?? ""))
      .map(({ name }) => `/${fullName}/${name}`),
  ),
);

/** Whether the contract says that a call of this method, repeated as it is, does nothing twice. */
export function mayRepeat(path: string): boolean {
  return repeatable.has(path);
}
