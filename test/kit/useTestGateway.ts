import { afterAll, beforeAll } from "vitest";

import { type Belongings, expectNothingLeft, noteBelongings } from "./leaks.js";
import { startTestGateway, type TestGateway, type TestGatewayOptions } from "./testGateway.js";

/**
 * One gateway for a test file. After the last test no worker, socket or outbox is left, or the file fails.
 * @returns the gateway, once the hooks have run.
 */
export function useTestGateway(options: TestGatewayOptions = {}): () => TestGateway {
  let before: Belongings | undefined;
  let gateway: TestGateway | undefined;
  beforeAll(async () => {
    before = noteBelongings();
    gateway = await startTestGateway(options);
  });
  afterAll(async () => {
    if (gateway === undefined || before === undefined) return;
    await gateway.gateway.drain(0);
    await expectNothingLeft({ ...before, handles: Number.POSITIVE_INFINITY }, gateway.context.paths.outboxesDir);
    await gateway.close();
    await expectNothingLeft(before);
  });
  return () => {
    if (gateway === undefined) throw new Error("the gateway has not started");
    return gateway;
  };
}
