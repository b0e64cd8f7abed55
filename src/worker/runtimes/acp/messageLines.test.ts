import { expect, test } from "vitest";

import { createMessageLines, type MessageLines } from "./messageLines.js";

const free = (): Promise<void> => Promise.resolve();

/** Everything that comes out until the end or the failure. */
async function read(lines: MessageLines, chunks: readonly (string | Buffer)[]): Promise<string> {
  let out = "";
  lines.stream.on("data", (chunk: Buffer) => (out += chunk.toString()));
  await new Promise<void>((resolve) => {
    lines.stream.on("close", resolve).on("error", () => undefined);
    for (const chunk of chunks) lines.stream.write(chunk);
    lines.stream.end();
  });
  return out;
}

test("messages come out whole, however they were cut, and what is no message does not", async () => {
  const lines = createMessageLines(free);
  expect(await read(lines, ['Welcome!\n{"a"', ":1}\n", '\n  {"b":"ü', '"}\n{"c":3}\nbye\n'])).toBe(
    '{"a":1}\n  {"b":"ü"}\n{"c":3}\n',
  );
  expect(lines.fault()).toBeUndefined();
});

test("a program that says nothing but strange lines is given up", async () => {
  const lines = createMessageLines(free);
  await read(lines, ["no message\n".repeat(100)]);
  expect(lines.fault()).toBeUndefined();
  const more = createMessageLines(free);
  await read(more, ["no message\n".repeat(101)]);
  expect(more.fault()).toContain("no messages of the Agent Client Protocol");
});

test("a line without an end is given up", async () => {
  const lines = createMessageLines(free);
  await read(
    lines,
    Array.from({ length: 17 }, () => Buffer.alloc(1_048_576, "x")),
  );
  expect(lines.fault()).toBe("it writes a line of more than 16 MiB");
});

test("nothing is read while what it led to is behind", async () => {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const lines = createMessageLines(() => held);
  const reading = read(lines, ['{"a":1}\n']);
  expect(lines.stream.readableLength).toBe(0);
  release();
  expect(await reading).toBe('{"a":1}\n');
});
