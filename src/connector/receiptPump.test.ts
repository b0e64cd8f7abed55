import { expect, test } from "vitest";

import type { Receipt, WatchReceiptsResponse } from "../gen/talaria/dm/v1/peer_service.js";
import type { GatewayInfo } from "../gen/talaria/dm/v1/roster.js";
import type { LocalGateway } from "./localGateway.js";
import type { ReceiptPlace } from "./placeFile.js";
import { ReceiptPump } from "./receiptPump.js";

const receipt = (key: string) => ({ key }) as Receipt;
const info = (storeId: string): WatchReceiptsResponse => ({
  cursor: undefined,
  update: { $case: "info", value: { storeId } as GatewayInfo },
});
const step = (sequence: bigint, ...keys: string[]): WatchReceiptsResponse => ({
  cursor: { epoch: 0n, sequence },
  update: { $case: "receipts", value: { receipts: keys.map(receipt) } },
});

function pumpOf(steps: readonly WatchReceiptsResponse[], from: Partial<ReceiptPlace> = {}, hubStore = "h") {
  let place: ReceiptPlace = { storeId: "s", hubStoreId: "h", sequence: 0, connection: 1, ...from };
  const asked: number[] = [];
  const sent: string[][] = [];
  const local = {
    async *watch(_caller: GatewayInfo, after: number) {
      asked.push(after);
      yield* steps;
    },
  } as unknown as LocalGateway;
  const pump = new ReceiptPump(local, { read: () => place, write: (next) => (place = { ...place, ...next }) });
  const run = () =>
    pump.run(
      { storeId: hubStore } as GatewayInfo,
      async (receipts) => void sent.push(receipts.map(({ key }) => key)),
      new AbortController().signal,
    );
  return { pump, run, asked, sent, place: () => place };
}

test("the place moves only over what was confirmed, in order", async () => {
  const { pump, run, sent, place } = pumpOf([info("s"), step(3n, "a", "b"), step(5n, "c"), step(6n, "a")]);
  await run();
  expect(sent).toEqual([["a", "b"], ["c"], ["a"]]);
  pump.confirm(["c"]);
  expect(place().sequence).toBe(0);
  pump.confirm(["a", "b"]);
  expect(place().sequence).toBe(5);
  pump.confirm(["a"]);
  expect(place().sequence).toBe(6);
});

test("what was not confirmed is sent again", async () => {
  const { pump, run, asked, sent } = pumpOf([info("s"), step(3n, "a"), step(5n, "b")]);
  await run();
  pump.confirm(["a"]);
  await run();
  expect(asked).toEqual([0, 3]);
  expect(sent.flat()).toEqual(["a", "b", "a", "b"]);
});

test("a place of another store is no place", async () => {
  const { run, asked, sent, place } = pumpOf([info("new"), step(3n, "a")], { storeId: "old", sequence: 9 });
  await run();
  expect(sent).toEqual([]);
  await run();
  expect(asked).toEqual([9, 0]);
  expect(place()).toMatchObject({ storeId: "new", sequence: 0 });
});

test.each([
  ["that has another store has forgotten what it confirmed", "old", 0],
  ["whose store was not known before goes on", "", 9],
])("a gateway that relays %s", async (_what, hubStoreId, after) => {
  const { run, asked, place } = pumpOf([info("s")], { hubStoreId, sequence: 9 });
  await run();
  expect(asked).toEqual([after]);
  expect(place()).toMatchObject({ storeId: "s", hubStoreId: "h", sequence: after });
});
