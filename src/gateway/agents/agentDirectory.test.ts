import { expect, test } from "vitest";

import type { AgentConfig } from "../../base/config/agentConfig.js";
import type { InvalidAgent } from "../../base/config/readAgents.js";
import { ConfigError } from "../../base/configError.js";
import type { RpcError } from "../../rpc/rpcError.js";
import { createAgentDirectory } from "./agentDirectory.js";

const agent = (name: string, title = name): AgentConfig => ({ name, title }) as unknown as AgentConfig;
const broken = (name: string, key = "modle"): InvalidAgent =>
  ({
    name,
    directory: `/a/${name}`,
    main: false,
    problems: [
      new ConfigError({ file: "/a/agent.yaml", line: 2, key, problem: "unknown key", hint: "did you mean model?" }),
    ],
  }) as unknown as InvalidAgent;

function refusal(run: () => unknown): RpcError {
  try {
    run();
  } catch (error) {
    return error as RpcError;
  }
  throw new Error("nothing was thrown");
}

test("agents are listed by name; one that is invalid is known and cannot be used", () => {
  const directory = createAgentDirectory([agent("b"), agent("a")], [broken("c")]);
  expect(directory.list().map(({ name }) => name)).toEqual(["a", "b"]);
  expect(directory.invalid().map(({ name }) => name)).toEqual(["c"]);
  expect(directory.get("c")).toBeUndefined();
  expect(directory.require("a").name).toBe("a");
  expect(refusal(() => directory.require("d"))).toMatchObject({ reason: "UNKNOWN_AGENT" });
  expect(refusal(() => directory.require("c"))).toMatchObject({
    reason: "AGENT_INVALID",
    message: "/a/agent.yaml:2: modle: unknown key",
    hint: "Did you mean model?",
    details: { metadata: { file: "/a/agent.yaml", line: "2", key: "modle" } },
  });
});

test("another reading takes the first one's place and says what differs", () => {
  const directory = createAgentDirectory(
    [agent("same"), agent("other"), agent("gone")],
    [broken("still"), broken("now")],
  );
  const changes = directory.replace({
    agents: [agent("same"), agent("other", "changed"), agent("fresh")],
    invalid: [broken("still"), broken("now", "else")],
    problems: [new ConfigError({ file: "/a/Bad Name", problem: "rename it" })],
  });
  expect(changes).toEqual({ added: ["fresh"], changed: ["other", "now"], removed: ["gone"] });
  expect(directory.get("gone")).toBeUndefined();
  expect(directory.problems()).toHaveLength(3);
  expect(directory.replace({ agents: [], invalid: [], problems: [] }).removed).toHaveLength(5);
});
