import { afterEach } from "vitest";
import { introduce, removeHome, testGateway, type TestGateway, type TestGatewayOptions } from "./testGateway.js";

/** Starts gateways for the tests of a file; after each test they are closed and their homes removed. */
export function useGateways() {
  const open: TestGateway[] = [];
  const homes: string[] = [];

  /** A gateway that is not started yet. */
  const use = async (options: TestGatewayOptions): Promise<TestGateway> => {
    const gateway = await testGateway(options);
    open.push(gateway);
    homes.push(gateway.home);
    return gateway;
  };

  /** Two started gateways. */
  const two = async (a: Partial<TestGatewayOptions> = {}, b: Partial<TestGatewayOptions> = {}) => {
    const [north, south] = await Promise.all([use({ name: "north", ...a }), use({ name: "south", ...b })]);
    await Promise.all([north.start(), south.start()]);
    return { north, south };
  };

  /** A started gateway that knows no other. */
  const one = async (options: Partial<TestGatewayOptions> = {}): Promise<TestGateway> => {
    const gateway = await use({ name: "home", ...options });
    await gateway.start();
    return gateway;
  };

  /** Two started gateways that have known one another from the start. */
  const pair = async (a: Partial<TestGatewayOptions> = {}, b: Partial<TestGatewayOptions> = {}) => {
    const [north, south] = await Promise.all([use({ name: "north", ...a }), use({ name: "south", ...b })]);
    introduce(north, south);
    await Promise.all([north.start(), south.start()]);
    return { north, south };
  };

  afterEach(async () => {
    await Promise.all(open.splice(0).map((gateway) => gateway.close()));
    for (const home of homes.splice(0)) removeHome(home);
  });
  return { use, one, two, pair };
}
