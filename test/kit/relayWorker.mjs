// A worker process without a mind of its own. It takes the launch token from stdin, carries bytes between a socket of its own and
// the owner's, so that the kernel names this process as the peer, and does what the test tells it over a control connection.
// Arguments: the control socket's path.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { createInterface } from "node:readline";

const [controlPath = ""] = process.argv.slice(2);
const ownerSocket = process.env["TALARIA_OWNER_SOCKET"] ?? "";
const control = connect(controlPath);
/** @param {object} event */
const tell = (event) => control.write(`${JSON.stringify(event)}\n`);
const birth = readFileSync(`/proc/${process.pid}/stat`, "latin1").split(") ")[1]?.split(" ")[19] ?? "0";

control.on("error", () => process.exit(9));
control.on("close", () => process.exit(9));

const path = `${controlPath}.${process.pid}`;
const server = createServer((near) => {
  const far = connect(ownerSocket);
  near.pipe(far).pipe(near);
  near.on("error", () => far.destroy());
  far.on("error", () => near.destroy());
});

const input = createInterface({ input: process.stdin });
input.once("line", (token) => {
  server.listen(path, () => tell({ kind: "attached", token, pid: process.pid, birth, path }));
});
input.once("close", () => tell({ kind: "ownerGone" }));

createInterface({ input: control }).on("line", (line) => {
  const order = JSON.parse(line);
  switch (order.kind) {
    case "exit":
      process.exit(order.code);
      break;
    case "ignoreSigterm":
      process.on("SIGTERM", () => tell({ kind: "sigterm" }));
      tell({ kind: "ignoring" });
      break;
    case "print":
      process.stdout.write(`${order.text}\n`, () => tell({ kind: "printed" }));
      break;
    case "spawn": {
      const child = spawn("sh", ["-c", "trap '' TERM; echo; while :; do sleep 1; done"], {
        stdio: ["ignore", "pipe", "ignore"],
      });
      child.stdout.once("data", () => tell({ kind: "spawned", pid: child.pid }));
      break;
    }
  }
});
