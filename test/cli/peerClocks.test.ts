import { expect, onTestFinished, test } from "vitest";

import { type Clock, systemClock } from "../../src/base/clock.js";
import { startTestGateway } from "../kit/testGateway.js";
import { waitFor } from "../kit/waitFor.js";
import { talaria } from "./useTalaria.js";

const HOUR_MS = 3_600_000;
const listeners = { peers: { host: "127.0.0.1", port: 0 }, metrics: { port: 0 } };

/** The system's clock, off by so many milliseconds. */
function off(ms: number): Clock {
  return { ...systemClock, now: () => systemClock.now() + ms };
}

/** A gateway whose clock is off, and the command in its home. */
async function gateway(name: string, clockOffMs: number, peers: object = {}) {
  const { home, gateway, close } = await startTestGateway({
    config: { name, listeners, peers },
    clock: off(clockOffMs),
  });
  onTestFinished(close);
  return {
    home,
    pin: gateway.pin,
    address: gateway.addresses.peers ?? "",
    metrics: gateway.addresses.metrics,
    at: (...args: readonly string[]) => talaria("--home", home, ...args),
  };
}

test("a peer whose clock is hours ahead is told by peers, doctor and the metrics, and messages still get their answers", async () => {
  const [here, there] = await Promise.all([gateway("here", 0), gateway("there", 3 * HOUR_MS + 60_000)]);
  const invited = await there.at("peers", "invite");
  expect(await here.at("peers", "join", invited.stdout.trim())).toMatchObject({ code: 0, stderr: "" });
  const listed = await waitFor("the clock of there is known", async () => {
    const { stdout } = await here.at("--json", "peers");
    const [peer] = JSON.parse(stdout) as { clock?: { aheadMs: string; errorMs?: number; readAt: string } }[];
    return peer?.clock === undefined ? { state: stdout } : { found: peer.clock };
  });
  const ahead = Number(listed.aheadMs) - 3 * HOUR_MS - 60_000;
  expect(Math.abs(ahead)).toBeLessThanOrEqual((listed.errorMs ?? 0) + 1);
  expect((await here.at("peers")).stdout).toMatch(/^there .* 3h ahead$/m);

  const doctor = await here.at("doctor", "--offline");
  expect(doctor.stdout).toMatch(/^warning +peers +The clock of there is 3h ahead of this gateway's\.$/m);
  expect(doctor.stdout).toContain("a day is made up for");
  const page = await (await fetch(here.metrics ?? "")).text();
  expect(page).toMatch(/^talaria_destination_clock_ahead_seconds\{destination="there"\} 108\d\d/m);

  expect(await here.at("dm", "send", "there", "Ping", "--wait")).toMatchObject({ code: 0, stdout: "Ping\n" });
  const back = await waitFor("there knows the clock of here", async () => {
    const { stdout } = await there.at("peers");
    return stdout.includes("behind") ? { found: stdout } : { state: stdout };
  });
  expect(back).toMatch(/^here .* 3h behind$/m);
});

test("a peer whose clock is days ahead is refused for its dates, which are not mistaken for another key", async () => {
  const there = await gateway("there", 4 * 24 * HOUR_MS);
  const here = await gateway("here", 0, { there: { address: there.address, pin: there.pin } });
  const doctor = await waitFor("the refusal is known", async () => {
    const { stdout } = await here.at("doctor", "--offline");
    return stdout.includes("there is not reached") ? { found: stdout } : { state: stdout };
  });
  expect(doctor).toMatch(
    /^PROBLEM +peers +there is not reached .* outside its dates by more than a day .*: its clock or/m,
  );
  expect(doctor).toContain("fix: Compare the clocks of both machines");
  expect(doctor).not.toContain("talaria pin");
});
