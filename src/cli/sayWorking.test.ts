import { expect, test } from "vitest";

import { FakeClock } from "../base/testing/fakeClock.js";
import { sayWorking } from "./sayWorking.js";
import { processTerminal, type Terminal } from "./terminal.js";

function recorded(errIsTerminal: boolean): { readonly terminal: Terminal; readonly lines: string[] } {
  const lines: string[] = [];
  const writes: Partial<Terminal> = {
    errIsTerminal,
    err: (line) => void lines.push(line),
    out: (text) => void lines.push(text),
    paint: (_output, _styles, text) => text,
  };
  return { terminal: { ...processTerminal(), ...writes }, lines };
}

test("a person is told again and again that a silent command goes on, and no more once it has written", () => {
  const clock = new FakeClock();
  const { terminal, lines } = recorded(true);
  const watched = sayWorking(terminal, "talaria backup", clock);
  clock.advance(1_999);
  expect(lines).toEqual([]);
  clock.advance(1);
  expect(lines).toEqual(["talaria backup: working, 2 s"]);
  clock.advance(28_000);
  clock.advance(60_000);
  expect(lines.slice(1)).toEqual([
    "talaria backup: working, 10 s",
    "talaria backup: working, 30 s",
    "talaria backup: working, 90 s",
  ]);
  watched.terminal.out("Done.\n");
  clock.advance(600_000);
  expect(lines.slice(4)).toEqual(["Done.\n"]);
});

test("nobody is told where errors go to a file, nor after the end", () => {
  const clock = new FakeClock();
  const piped = recorded(false);
  expect(sayWorking(piped.terminal, "talaria backup", clock).terminal).toBe(piped.terminal);
  const ended = recorded(true);
  sayWorking(ended.terminal, "talaria backup", clock).stop();
  clock.advance(600_000);
  expect([...piped.lines, ...ended.lines]).toEqual([]);
});
