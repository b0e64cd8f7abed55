import fc from "fast-check";
import { expect, test } from "vitest";

import { FakeClock } from "../../base/testing/fakeClock.js";
import { type SessionChange, SessionHub } from "./sessionHub.js";
import { Watcher } from "./watcher.js";

const mark = (executionId: string): SessionChange => ({ $case: "phaseChanged", value: { executionId, phase: 7 } });

test("what is kept does not grow with the sessions that were ever touched, and a watched one is never forgotten", () => {
  const hub = new SessionHub(3, new FakeClock(), 100);
  hub.open("watched", new Watcher(false), undefined);
  hub.publish("watched", mark("one"));
  hub.publish("early", mark("one"));
  const cursor = hub.cursorOf("early");
  for (let count = 0; count < 1_000; count += 1) {
    hub.publish(`s${String(count)}`, mark("one"));
    hub.cursorOf(`c${String(count)}`);
  }
  expect(hub.kept).toBeLessThanOrEqual(257);
  expect(hub.open("watched", new Watcher(false), { epoch: 3n, sequence: 0n })).toMatchObject({ kind: "resume" });
  hub.publish("early", mark("two"));
  expect(hub.open("early", new Watcher(false), cursor)).toMatchObject({ kind: "snapshot", gap: true });
});

test("however sessions come, are watched and are forgotten, a cursor gives exactly what was missed, or a gap", () => {
  const step = fc.record({
    session: fc.constantFrom("a", "b", "c", "d"),
    what: fc.constantFrom("publish", "publish", "watch", "leave", "cursor", "resume"),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80, size: "max" }), (steps) => {
      const hub = new SessionHub(3, new FakeClock(), 100, 2);
      const published = new Map<string, string[]>();
      const watchers = new Map<string, Watcher[]>();
      const cursors = new Map<
        string,
        { readonly cursor: { epoch: bigint; sequence: bigint }; readonly seen: number }[]
      >();
      steps.forEach(({ session, what }, index) => {
        const all = published.get(session) ?? [];
        const here = watchers.get(session) ?? [];
        if (what === "publish") {
          hub.publish(session, mark(String(index)));
          published.set(session, [...all, String(index)]);
        } else if (what === "watch") {
          const watcher = new Watcher(false);
          hub.open(session, watcher, undefined);
          watchers.set(session, [...here, watcher]);
        } else if (what === "leave") {
          const [first, ...rest] = here;
          if (first !== undefined) hub.close(session, first);
          watchers.set(session, rest);
        } else if (what === "cursor") {
          const noted = { cursor: hub.cursorOf(session), seen: all.length };
          cursors.set(session, [...(cursors.get(session) ?? []), noted]);
        } else {
          for (const { cursor, seen } of cursors.get(session) ?? []) {
            const watcher = new Watcher(false);
            const start = hub.open(session, watcher, cursor);
            hub.close(session, watcher);
            if (start.kind === "snapshot") continue;
            const missed = start.missed.map(({ update }) =>
              update?.$case === "phaseChanged" ? update.value.executionId : "",
            );
            expect(missed).toEqual(all.slice(seen));
          }
        }
        const watched = [...watchers.values()].filter((some) => some.length > 0).length;
        expect(hub.kept).toBeLessThanOrEqual(watched + 2);
      });
    }),
  );
});
