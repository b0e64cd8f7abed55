import { expect, test } from "vitest";

import { ErrorInfo } from "../../src/gen/google/rpc/error_details.js";
import { paths } from "./paths.js";
import { runTool, type Ended } from "./runTool.js";
import { turnUpdates } from "./turnUpdates.js";
import { useGateway } from "./useGateway.js";

const gateway = useGateway();

/** Runs `buf curl` on the gateway's socket; the schema comes through reflection. */
function curl(path: string, ...args: readonly string[]): Promise<Ended> {
  const socket = gateway().addresses.unix.replace("unix://", "");
  const url = `http://localhost${path}`;
  return runTool(paths.buf, ["curl", "--protocol", "grpc", "--unix-socket", socket, ...args, url], {
    cwd: paths.root,
  });
}

test("buf curl lists the services", async () => {
  const { code, stdout, stderr } = await curl("", "--list-services");
  expect(code, stderr).toBe(0);
  expect(stdout).toContain("talaria.gateway.v1.TurnService\n");
  expect(stdout).not.toContain("PeerService");
});

test("buf curl makes a unary call", async () => {
  const { code, stdout, stderr } = await curl("/talaria.gateway.v1.AgentService/ListAgents", "-d", "{}");
  expect(code, stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ agents: [{ name: "main", main: true, runtime: "echo" }] });
});

test("buf curl runs a turn and sees it stream", async () => {
  const request = { request_id: "buf-1", agent: "main", text: "Hello from buf" };
  const ended = await curl("/talaria.gateway.v1.TurnService/RunTurn", "-d", JSON.stringify(request));
  expect(ended.code, ended.stderr).toBe(0);
  const turn = turnUpdates(ended.stdout);
  expect(turn.pieces.join("")).toBe("Hello from buf");
  expect(turn.ended).toMatchObject({ outcome: "TURN_OUTCOME_COMPLETED" });
});

test("buf curl prints the details of an error", async () => {
  const request = { request_id: "buf-2", agent: "nobody", text: "Hello" };
  const ended = await curl("/talaria.gateway.v1.TurnService/RunTurn", "-d", JSON.stringify(request));
  expect(ended.code).not.toBe(0);
  const { code, details } = JSON.parse(ended.stderr) as { code: string; details: { type: string; value: string }[] };
  expect(code).toBe("not_found");
  expect(details.map(({ type }) => type)).toEqual(["google.rpc.ErrorInfo"]);
  expect(ErrorInfo.decode(Buffer.from(details[0]?.value ?? "", "base64"))).toMatchObject({
    reason: "UNKNOWN_AGENT",
    domain: "talaria",
    metadata: { agent: "nobody" },
  });
});
