import { join } from "node:path";
import { afterAll, beforeAll, describe, expect } from "vitest";

import { outsideTool } from "./outsideTool.js";
import { paths } from "./paths.js";
import { makePythonStubs, type PythonStubs } from "./pythonStubs.js";
import { runTool, type Ended } from "./runTool.js";
import { TRANSPORTS, useGateway, type Transport } from "./useGateway.js";

const python = outsideTool("python");
const { test } = python;
const gateway = useGateway({ when: python.runs });
let stubs: PythonStubs | undefined;

const SERVED = [
  "grpc.health.v1.Health",
  "grpc.reflection.v1.ServerReflection",
  "grpc.reflection.v1alpha.ServerReflection",
  "talaria.dm.v1.DirectMessageService",
  "talaria.gateway.v1.AdminService",
  "talaria.gateway.v1.AgentService",
  "talaria.gateway.v1.SessionService",
  "talaria.gateway.v1.TurnService",
];

if (python.runs) {
  beforeAll(async () => {
    stubs = await makePythonStubs(python.path);
  });
  afterAll(() => {
    stubs?.remove();
  });
}

/** Runs a Python program against the gateway; the example and the stubs are importable. */
function runPython(program: string, args: readonly string[], token = ""): Promise<Ended> {
  const env = {
    PYTHONPATH: `${stubs?.directory ?? ""}:${paths.examples}`,
    PYTHONDONTWRITEBYTECODE: "1",
    TALARIA_TOKEN: token,
  };
  return runTool(python.path, [program, ...args], { env });
}

async function scenario(program: string, transport: Transport): Promise<unknown> {
  const token = transport === "tcp" ? gateway().token : "";
  const { addresses } = gateway();
  const args = [addresses[transport], token, `${program}-${transport}`];
  const { code, stdout, stderr } = await runPython(join(paths.scenarios, `${program}.py`), args);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
}

interface StubsSeen {
  readonly services: readonly string[];
  readonly turn: { readonly input: string; readonly pieces: readonly string[]; readonly queuedAt: string };
  readonly message: { readonly delivery: string; readonly states: readonly string[] };
}

describe.each(TRANSPORTS)("Python over %s", (transport) => {
  test("with generated stubs: lists, runs, replays, approves, sends, and reads every detail of an error", async () => {
    const seen = (await scenario("stubs", transport)) as StubsSeen;
    expect(seen.services).toEqual(SERVED);
    expect(seen.turn.pieces.length).toBeGreaterThan(1);
    expect(seen.turn.pieces.join("")).toBe("Hello from Python");
    expect(Math.abs(Date.parse(seen.turn.queuedAt) - Date.now())).toBeLessThan(60_000);
    const completed = { outcome: "TURN_OUTCOME_COMPLETED" };
    expect(seen).toMatchObject({
      turn: { ...completed, answer: "Hello from Python", replayed: false },
      replay: { ...completed, answer: "Hello from Python", replayed: true, input: seen.turn.input },
      conflict: { code: "ALREADY_EXISTS", reason: "REQUEST_CONFLICT" },
      approved: { ...completed, answer: "approved: once", asked: ["ls"] },
      denied: { ...completed, answer: expect.stringMatching(/^denied: /) as string, asked: ["ls"] },
      message: { reply: "Ping from Python" },
      messageAgain: { reply: "Ping from Python", delivery: seen.message.delivery },
      unknownAgent: { code: "NOT_FOUND", reason: "UNKNOWN_AGENT", hint: expect.stringMatching(/agents/) as string },
      invalid: {
        code: "INVALID_ARGUMENT",
        reason: "INVALID_FIELD",
        fields: { request_id: expect.any(String) as string, text: "must not be empty" },
      },
    });
    expect(seen.message.states.at(0)).toBe("DELIVERY_STATE_QUEUED");
    expect(seen.message.states.at(-1)).toBe("DELIVERY_STATE_REPLIED");
    if (transport === "tcp") {
      expect(seen).toMatchObject({
        stranger: { code: "UNAUTHENTICATED", reason: "TOKEN_INVALID" },
        nobody: { code: "UNAUTHENTICATED", reason: "UNAUTHENTICATED" },
      });
    }
  });

  test("with reflected descriptors alone: lists, describes, runs, sends, and reads an error", async () => {
    const seen = (await scenario("reflected", transport)) as { turn: readonly { update: object }[] };
    expect(seen).toMatchObject({
      services: SERVED,
      deliverDm: ["talaria.dm.v1.DeliverDMRequest", ["envelope", "request_id"]],
      message: { delivery: { state: "DELIVERY_STATE_REPLIED", reply: { text: "Ping by reflection" } } },
      unknownAgent: {
        code: 5,
        details: [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "UNKNOWN_AGENT" }],
      },
    });
    expect(seen.turn.at(-1)).toMatchObject({
      update: {
        turnEnded: {
          turn: { outcome: "TURN_OUTCOME_COMPLETED", result: { finalResponse: "Hello by reflection" } },
        },
      },
    });
  });

  test("the example's command line runs a turn, sends a message and says why it was refused", async () => {
    const program = join(paths.examples, "client.py");
    const address = gateway().addresses[transport];
    const token = transport === "tcp" ? gateway().token : "";
    const ran = await runPython(program, [address, "run", "main", "Hello there"], token);
    expect(ran).toMatchObject({ code: 0, stdout: "Hello there\nTURN_OUTCOME_COMPLETED\n" });
    const sent = await runPython(program, [address, "send", "main", "Ping"], token);
    expect(sent.stdout).toMatch(/^DELIVERY_STATE_QUEUED \n(?:.*\n)*DELIVERY_STATE_REPLIED Ping\n$/);
    expect((await runPython(program, [address, "list"], token)).stdout.trim().split("\n")).toEqual(SERVED);
    const refused = await runPython(program, [address, "run", "nobody", "Hello"], token);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("NOT_FOUND UNKNOWN_AGENT: ");
  });
});
