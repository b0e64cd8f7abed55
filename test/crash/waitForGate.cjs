// Loaded before a worker's program: blocks until the file named by GATE_FILE exists, so that a launched worker has done nothing yet.
const { existsSync } = require("node:fs");

const gate = process.env["GATE_FILE"] ?? "";
const never = new Int32Array(new SharedArrayBuffer(4));
while (gate !== "" && !existsSync(gate)) Atomics.wait(never, 0, 0, 10);
