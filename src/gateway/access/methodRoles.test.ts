import type { MethodDefinition, ServiceDefinition } from "@grpc/grpc-js";
import { expect, test } from "vitest";

import { DirectMessageServiceService } from "../../gen/talaria/dm/v1/direct_message_service.js";
import { AdminServiceService } from "../../gen/talaria/gateway/v1/admin_service.js";
import { AgentServiceService } from "../../gen/talaria/gateway/v1/agent_service.js";
import { SessionServiceService } from "../../gen/talaria/gateway/v1/session_service.js";
import { TurnServiceService } from "../../gen/talaria/gateway/v1/turn_service.js";
import { METHOD_ROLES, roleIncludes } from "./methodRoles.js";

const services: readonly ServiceDefinition[] = [
  AgentServiceService,
  SessionServiceService,
  TurnServiceService,
  AdminServiceService,
  DirectMessageServiceService,
];
const paths = services.flatMap((service) =>
  Object.values(service as Record<string, MethodDefinition<unknown, unknown>>).map(({ path }) => path),
);

test("every method of the client services has a role, and no role is for a method that does not exist", () => {
  const listed = Object.keys(METHOD_ROLES).filter((path) => path.startsWith("/talaria."));
  expect([...listed].sort()).toEqual([...paths].sort());
});

test("what reads is for readers, and nothing that changes is", () => {
  const reads = /\/(Get|List|Read|Watch|Export)[A-Z]/;
  for (const path of paths) expect([path, METHOD_ROLES[path] === "reader"]).toEqual([path, reads.test(path)]);
});

test.each([
  ["operator", "reader", true],
  ["operator", "operator", true],
  ["client", "operator", false],
  ["client", "reader", true],
  ["reader", "client", false],
] as const)("%s includes %s: %s", (role, needed, expected) => {
  expect(roleIncludes(role, needed)).toBe(expected);
});
