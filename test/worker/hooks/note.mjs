// A hook. Usage: node note.mjs FILE [MODE] appends what it is told to FILE; MODE is what it does besides.
import { spawn } from "node:child_process";
import { appendFileSync, writeSync } from "node:fs";
import { text } from "node:stream/consumers";

const [file, mode = "", argument = ""] = process.argv.slice(2);
if (mode === "hang") {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "inherit" });
  appendFileSync(file, `${JSON.stringify({ event: "hanging", pid: process.pid, child: child.pid })}\n`);
  process.on("SIGTERM", () => undefined);
  setInterval(() => undefined, 1_000);
} else {
  appendFileSync(file, `${(await text(process.stdin)).trim()}\n`);
  if (mode === "say") process.stdout.write(argument);
  if (mode === "flood") for (let left = 2_000; left > 0; left--) writeSync(1, "x".repeat(1_024));
  if (mode === "fail") {
    process.stderr.write("out of order\n");
    process.exitCode = 3;
  }
}
