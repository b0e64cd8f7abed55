import { createHash } from "node:crypto";
import { PersistRequest } from "../../gen/talaria/owner/v1/execution_store_service.js";
import { RpcError } from "../../rpc/rpcError.js";
import type { Check } from "../check.js";
import { need } from "../checkFailure.js";
import { INLINE_BYTES } from "../resultRules.js";

const PIECE = "0123456789abcdef";
const PIECES = 100_000;

/** Writes to the session's store, long answers among them. */
export const storeChecks: readonly Check[] = [
  {
    name: "persist",
    rule: "Store writes carry the fence and the sequences 1, 2, 3 without gaps; FinishExecution names the last.",
    needs: "store",
    run: async (trial) => {
      await trial.turn("!append noted");
      const { persists } = trial.owner;
      for (const [at, { request }] of persists.entries()) {
        need(
          request.sequence === BigInt(at + 1),
          `write ${String(at + 1)} has the sequence ${String(request.sequence)}`,
        );
        need(request.fence?.executionId === trial.assignment.executionId, "a write has another fence");
      }
      const rows = persists.flatMap(({ request }) => {
        const operation = request.operation?.operation;
        return operation?.$case === "appendMessages" ? operation.value.messages : [];
      });
      need(rows.length === 1 && rows[0]?.text === "noted", "the row was not appended");
      return `${String(persists.length)} writes`;
    },
  },
  {
    name: "lost answer to Persist",
    rule: "A write whose answer was lost is repeated under the same sequence with the same content.",
    needs: "store",
    run: async (trial) => {
      trial.owner.before.persist = () => {
        trial.owner.before = {};
        throw new RpcError("UNAVAILABLE");
      };
      await trial.turn("!append once");
      const [first, second] = trial.owner.persists.map(({ request }) =>
        Buffer.from(PersistRequest.encode(request).finish()),
      );
      need(first !== undefined && second?.equals(first) === true, "it was not repeated as it was");
      return "the same bytes twice";
    },
  },
  {
    name: "long answer",
    rule: "An answer over 1,048,576 bytes goes ahead in pieces; the receipt refers to it by digest and size.",
    needs: "long-answers",
    run: async (trial) => {
      const { finalResponse, answer } = await trial.turn(`!repeat ${String(PIECES)} ${PIECE}`);
      const pieces = trial.owner.persists.flatMap(({ request }) => {
        const operation = request.operation?.operation;
        return operation?.$case === "appendAnswerChunk" ? [operation.value.text] : [];
      });
      const whole = Buffer.from(PIECE.repeat(PIECES));
      need(
        pieces.every((piece) => piece !== "" && Buffer.byteLength(piece) <= INLINE_BYTES),
        "a piece is over its bound",
      );
      need(Buffer.from(pieces.join("")).equals(whole), "the pieces do not make the answer");
      need(finalResponse === "" && answer?.sizeBytes === BigInt(whole.length), "the receipt does not refer to it");
      need(answer.sha256.equals(createHash("sha256").update(whole).digest()), "the digest is another's");
      return `${String(pieces.length)} pieces`;
    },
  },
  {
    name: "failure",
    rule: "A turn that fails gives a receipt that says so, its error cut to 4,096 code points, and ends in order.",
    needs: "failures",
    run: async (trial) => {
      const { failed, error, failureReason } = await trial.turn(`!fail RUNTIME_FAILED ${"x".repeat(10_000)}`);
      need(failed, "failed is not set");
      need(error !== undefined && error !== "", "there is no error text");
      need(failureReason !== 0, "there is no failure reason");
      return `${String(error.length)} characters`;
    },
  },
];
