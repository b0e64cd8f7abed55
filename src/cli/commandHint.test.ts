import { expect, test } from "vitest";

import { reasons } from "../rpc/reasons.js";
import { commandHint } from "./commandHint.js";
import { createProgram } from "./program.js";
import { processTerminal } from "./terminal.js";

test("every name that a gateway may not know is explained by commands that exist", () => {
  const explained = Object.keys(reasons).filter((reason) => commandHint(reason) !== undefined);
  expect(explained).toHaveLength(6);
  const program = createProgram(processTerminal(), () => undefined);
  const known = program.commands.flatMap((group) => [
    group.name(),
    ...group.commands.map((one) => `${group.name()} ${one.name()}`),
  ]);
  const named = explained.flatMap((reason) =>
    [...(commandHint(reason) ?? "").matchAll(/talaria (\w+(?: (?:new|invite))?)/g)].map(([, name]) => name),
  );
  expect(named.filter((name) => name === undefined || !known.includes(name))).toEqual([]);
});
