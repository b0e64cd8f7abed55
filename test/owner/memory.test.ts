import { expect, test } from "vitest";

import { useTestGateway } from "../kit/useTestGateway.js";

const gateway = useTestGateway({
  agents: {
    // A worker has some 60 MiB; with a child of Node's the two together are over the ceiling.
    frugal: { runtime: "echo", main: true, limits: { memory_mib: 96 } },
  },
  budgets: { heartbeat_interval_ms: 100 },
});

test("a turn whose processes together hold more than the agent's ceiling is stopped for that reason", async () => {
  const { client } = gateway();
  expect(await client.run("frugal", "!say small").outcome()).toMatchObject({ outcome: "COMPLETED" });
  expect(await client.run("frugal", "!hang-child").outcome()).toMatchObject({
    outcome: "INTERRUPTED",
    reason: "WORKER_MEMORY",
  });
});
