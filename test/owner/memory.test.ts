import { expect, test } from "vitest";

import { useTestGateway } from "../kit/useTestGateway.js";

const gateway = useTestGateway({
  agents: {
    frugal: { runtime: "echo", main: true, limits: { memory_mib: 128 } },
  },
  budgets: { heartbeatIntervalMs: 100 },
});

test("a turn whose processes together hold more than the agent's ceiling is stopped for that reason", async () => {
  const { client } = gateway();
  expect(await client.run("frugal", "!hold 1").outcome()).toMatchObject({ outcome: "COMPLETED" });
  expect(await client.run("frugal", "!hold 128\n!sleep 60000").outcome()).toMatchObject({
    outcome: "INTERRUPTED",
    reason: "WORKER_MEMORY",
  });
});
