import { LIMITS } from "../../base/limits.js";
import { ancestorsOf, readProcess } from "../../base/processTable.js";
import { RpcError } from "../../rpc/rpcError.js";
import type { Check } from "../check.js";
import { need } from "../checkFailure.js";
import type { Trial } from "../trial.js";

const ROUNDS = 3;
const PAYLOAD_BYTES = 4_096;

/** How a worker proves itself, and that it keeps its secrets. */
export const handshakeChecks: readonly Check[] = [
  {
    name: "hello",
    rule: "The first frame is hello: the token of the launch pipe, its own pid and birth, its build and its protocol range.",
    run: async (trial) => {
      const { connection, frames } = await trial.attached();
      const hello = frames[0]?.frame;
      need(hello?.$case === "hello", "the first frame is not hello");
      const { token, process: said, build, protocol } = hello.value;
      need(token.equals(trial.worker.token), "the token is not the one from the launch pipe");
      const facts = readProcess(said?.pid ?? 0);
      need(facts !== undefined, "the pid is nobody's");
      need(facts.birthTicks === said?.birth, "the birth is not the kernel's");
      const line = [facts.pid, ...ancestorsOf(facts.pid, LIMITS.ancestorDepth).map(({ pid }) => pid)];
      need(
        line.includes(trial.worker.pid),
        "the launched process is neither the worker nor one of its first ancestors",
      );
      const { peer } = connection;
      need(peer === undefined || peer.pid === facts.pid, "the kernel says that the connection is another process's");
      need(
        protocol !== undefined && protocol.min >= 1 && protocol.min <= 1 && protocol.max >= 1,
        "revision 1 is not spoken",
      );
      need(
        build !== undefined && build.name !== "" && build.name.length <= 64,
        "the build has no name of 1 to 64 characters",
      );
      return `${build.name} ${build.version} on ${build.runtime}`;
    },
  },
  {
    name: "secrets",
    rule: "Neither the token nor the assignment's secrets stand in arguments, environment or on standard output.",
    run: async (trial) => {
      const credential = trial.settings.random.bytes(24).toString("hex");
      await trial.running("!sleep 3600000", { credentials: [{ name: "model", secret: credential }] });
      const secrets = [trial.worker.token, trial.assignment.assignmentSecret].flatMap((bytes) =>
        (["base64url", "base64", "hex"] as const).map((form) => bytes.toString(form)),
      );
      const shown = trial.worker.group.map((pid) => trial.worker.visible(pid)).join("\n");
      const output = `${trial.worker.output}\n${trial.worker.log}`;
      for (const secret of [...secrets, credential]) {
        need(!shown.includes(secret), "a secret stands in arguments or environment");
        need(!output.includes(secret), "a secret was printed");
      }
      return `${String(trial.worker.group.length)} processes looked at`;
    },
  },
  {
    name: "no token",
    rule: "A worker whose launch pipe holds no token gets no further: an empty token at most, and a non-zero exit.",
    run: async (trial) => {
      await trial.launch(false);
      const { board, owner } = trial;
      const seen = (): "attached" | "ended" | undefined => {
        if (trial.worker.exit !== undefined) return "ended";
        return owner.attachment?.frames[0] === undefined ? undefined : "attached";
      };
      if ((await board.until("end or hello", seen, () => trial.state)) === "attached") {
        const first = trial.attachment.frames[0]?.frame;
        need(first?.$case === "hello" && first.value.token.length === 0, "a token was made up");
        trial.attachment.end(new RpcError("WORKER_LAUNCHER_DROPPED_STDIN"));
      }
      return trial.failed();
    },
  },
  {
    name: "refused",
    rule: "A worker whose proof is refused ends, and not with 0.",
    run: async (trial) => {
      (await trial.attached()).end(new RpcError("WORKER_TOKEN_INVALID"));
      return trial.failed();
    },
  },
  {
    name: "released",
    rule: "A worker that is closed before its assignment ends, and not with 0.",
    run: async (trial) => {
      const attachment = await trial.attached();
      attachment.send({ $case: "close", value: { reason: 6, detail: 0, message: "no longer needed" } });
      attachment.end();
      return trial.failed();
    },
  },
  {
    name: "dry run",
    rule: "Each dry run comes back with its round and its payload, and the turn runs afterwards.",
    run: async (trial) => {
      const attachment = await trial.attached();
      for (let round = 1; round <= ROUNDS; round++) {
        const payload = Buffer.alloc(PAYLOAD_BYTES, round);
        attachment.send({ $case: "dryRun", value: { round, payload, likelyRuntime: "" } });
        const done = await attachment.next("dryRunDone");
        need(done.round === round && done.payload.equals(payload), `round ${String(round)} came back changed`);
      }
      need((await trial.turn("after practice")).finalResponse === "after practice", "the answer is not the input");
      return `${String(ROUNDS)} rounds of ${String(PAYLOAD_BYTES)} bytes`;
    },
  },
  {
    name: "store connection",
    rule: "Every store call comes on the connection that has adopted, and there is one Attach.",
    run: async (trial) => {
      await trial.turn("store connection");
      const adopted = trial.owner.adopts.at(-1)?.connectionId;
      const calls = [...trial.owner.persists, ...trial.owner.finishes];
      need(
        calls.every(({ connectionId }) => connectionId === adopted),
        "a store call came on a connection that has not adopted",
      );
      need(trial.owner.surplus === 0, "it attached more than once");
      return `${String(calls.length)} store calls`;
    },
  },
  ...["protocol 99", "a short secret", "a wrong execution id"].map((fault) => ({
    name: `bad assignment: ${fault}`,
    rule: "An assignment that breaks the contract is refused with an error frame, and nothing is adopted.",
    run: async (trial: Trial) => {
      const attachment = await trial.attached();
      const changes = {
        "protocol 99": { protocol: 99 },
        "a short secret": { assignmentSecret: Buffer.alloc(5) },
        "a wrong execution id": { executionId: "nonsense" },
      }[fault];
      trial.bootstrap("never", changes);
      const { message } = await attachment.next("error");
      attachment.end();
      await trial.failed();
      need(trial.owner.adopts.length === 0, "it was adopted all the same");
      return message;
    },
  })),
];
