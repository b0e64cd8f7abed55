import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";

import { noSurroundings, talariaCommand, temporaryHome } from "../cli/useTalaria.js";

/** Starts of each kind. The least of them counts: what else the machine does only adds. */
const STARTS = 9;
/**
 * Times bare Node's. The goal is 4, measured by the bench; this much more is no noise but something that was not there before. From
 * Node 22 on, bare Node starts in a third of the time and `serve` does not.
 */
const BOUND = Number(process.versions.node.split(".")[0]) < 22 ? 5.5 : 12;

/** Milliseconds until a gateway says that it serves; it is ended as a service is, after it has kept its code. */
async function serveMs(home: string): Promise<number> {
  const began = performance.now();
  const child = spawn(process.execPath, [talariaCommand, "--json", "--home", home, "serve"], {
    env: { ...process.env, ...noSurroundings },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (log += text));
  const exited = once(child, "exit");
  await Promise.race([once(child.stdout, "data"), exited.then(() => Promise.reject(new Error(log)))]);
  const took = performance.now() - began;
  child.kill("SIGTERM");
  await exited;
  return took;
}

/** Milliseconds from the start of bare Node to its end. */
async function nodeMs(): Promise<number> {
  const began = performance.now();
  await once(spawn(process.execPath, ["-e", "0"], { stdio: "ignore" }), "exit");
  return performance.now() - began;
}

test("serve starts in a few times bare Node, once its home was served before", { timeout: 120_000 }, async () => {
  const home = temporaryHome();
  await serveMs(home);
  const serve: number[] = [];
  const node: number[] = [];
  for (let index = 0; index < STARTS; index++) {
    serve.push(await serveMs(home));
    node.push(await nodeMs());
  }
  const texts = { serve: serve.map(Math.round).join(" "), node: node.map(Math.round).join(" ") };
  expect(Math.min(...serve) / Math.min(...node), JSON.stringify(texts)).toBeLessThan(BOUND);
});
