import { expect, test } from "vitest";
import type { ProcessFacts } from "../base/processIdentity.js";
import { groupToKill } from "./groupToKill.js";

function facts(pid: number, processGroup: number): ProcessFacts {
  return { pid, processGroup, birthTicks: 1n, parentPid: 1, state: "S", session: 1, uid: 0 };
}

test.each([
  ["the worker leads", facts(10, 10), [facts(5, 5)], { kind: "group", pgid: 10 }],
  ["a launcher leads", facts(10, 8), [facts(9, 8), facts(8, 8), facts(5, 5)], { kind: "group", pgid: 8 }],
  ["somebody else leads", facts(10, 3), [facts(9, 3), facts(5, 3)], { kind: "self" }],
])("%s", (_, self, ancestors, target) => {
  expect(groupToKill(self, ancestors)).toEqual(target);
});
