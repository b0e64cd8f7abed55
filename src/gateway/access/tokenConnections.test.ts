import { expect, test } from "vitest";

import type { ClientToken } from "../../base/clientTokens.js";
import { FakeClock } from "../../base/testing/fakeClock.js";
import type { Connection } from "../../rpc/connection.js";
import { createTokenConnections, TOKEN_LOOK_INTERVAL_MS } from "./tokenConnections.js";

const token = (name: string, more: Partial<ClientToken> = {}): ClientToken => ({
  name,
  role: "client",
  sha256: name,
  createdAt: "",
  ...more,
});

function connection(): Connection & { readonly cut: boolean; close(): void } {
  const waiting = new Set<() => void>();
  const state = { cut: false, closed: false };
  const close = (): void => {
    state.closed = true;
    for (const run of waiting) run();
  };
  return {
    id: "c",
    remote: "",
    get cut() {
      return state.cut;
    },
    get closed() {
      return state.closed;
    },
    onClose(run) {
      waiting.add(run);
      return () => waiting.delete(run);
    },
    destroy() {
      state.cut = true;
      close();
    },
    close,
  };
}

function table(...tokens: readonly ClientToken[]) {
  const state = { tokens };
  return { state, connections: (clock: FakeClock) => createTokenConnections({ current: () => state.tokens }, clock) };
}

test("the connections of a token that is taken back are cut, also where others came over them; the rest stay", () => {
  const clock = new FakeClock();
  const { state, connections } = table(token("a"), token("b"));
  const live = connections(clock);
  const [first, shared, other] = [connection(), connection(), connection()];
  live.note(first, token("a"));
  live.note(shared, token("b"));
  live.note(shared, token("a"));
  live.note(other, token("b"));
  clock.advance(10 * TOKEN_LOOK_INTERVAL_MS);
  expect([first.cut, shared.cut, other.cut]).toEqual([false, false, false]);
  state.tokens = [token("b")];
  clock.advance(TOKEN_LOOK_INTERVAL_MS);
  expect([first.cut, shared.cut, other.cut]).toEqual([true, true, false]);
});

test.each([
  ["another role", token("a", { role: "reader" })],
  ["another token under its name", token("a", { sha256: "other" })],
])("a token is taken back by %s", (_, replaced) => {
  const clock = new FakeClock();
  const { state, connections } = table(token("a"));
  const one = connection();
  connections(clock).note(one, token("a"));
  state.tokens = [replaced];
  clock.advance(TOKEN_LOOK_INTERVAL_MS);
  expect(one.cut).toBe(true);
});

test("nothing waits where no connection is left", () => {
  const clock = new FakeClock();
  const { connections } = table(token("a"));
  const live = connections(clock);
  const [one, two, gone] = [connection(), connection(), connection()];
  gone.close();
  for (const each of [one, two, one, gone]) live.note(each, token("a"));
  clock.advance(3 * TOKEN_LOOK_INTERVAL_MS);
  one.close();
  expect(clock.pending).toBe(1);
  two.close();
  expect(clock.pending).toBe(0);
});
