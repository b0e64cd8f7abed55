import { assertNever } from "../../../base/assertNever.js";
import { reasonEntry } from "../../../rpc/reasons.js";
import type { RuntimeFailure } from "../runtime.js";
import { hangOnChild, leaveChild } from "./childSteps.js";
import { runChildren } from "./delegateSteps.js";
import type { Directive } from "./directive.js";
import type { EchoTurn } from "./echoTurn.js";
import { checkDelivery, sendMessage } from "./messageSteps.js";
import { askApproval, askQuestions } from "./promptSteps.js";
import { appendRow, readHistory, setTitle } from "./storeSteps.js";
import { flood, repeated, sleep, spin, wordsOf } from "./streamSteps.js";

/** Obeys one directive. @returns why the turn fails, where it does. */
export async function performDirective(
  directive: Directive,
  turn: EchoTurn,
  emit: (pieces: Iterable<string>) => Promise<void>,
): Promise<RuntimeFailure | undefined> {
  const { context } = turn;
  const say = (text: string): Promise<void> => emit(wordsOf(text));
  switch (directive.verb) {
    case "say":
      await say(directive.text);
      return undefined;
    case "tool":
    case "tool-error": {
      const { result, isError } = await context.callTool({
        name: directive.name,
        arguments: directive.arguments,
        run: async () => {
          if (directive.verb === "tool-error") throw new Error(directive.result);
          return directive.result;
        },
      });
      await say(`${directive.name}${isError ? " failed" : ""}: ${result}`);
      return undefined;
    }
    case "approve":
      await say(await askApproval(turn, directive.command));
      return undefined;
    case "ask":
      await say(await askQuestions(turn, directive.questions));
      return undefined;
    case "dm":
      await say(await sendMessage(turn, directive.target, directive.body));
      return undefined;
    case "child":
      await say(await runChildren(turn, directive.tasks));
      return undefined;
    case "check":
      await say(await checkDelivery(turn, directive.deliveryId));
      return undefined;
    case "sleep":
      await sleep(context.clock, directive.ms, turn.signal);
      return undefined;
    case "spin":
      await spin(context.clock, directive.ms);
      return undefined;
    case "hold":
      // Filled, so that the pages are there; kept by the turn, so that they stay.
      turn.held.push(Buffer.alloc(directive.mebibytes * 1_048_576, 1));
      return undefined;
    case "flood":
      await say(await flood(turn, directive.count, directive.burst, directive.bytes));
      return undefined;
    case "hang-child":
      await say(await hangOnChild(say));
      return undefined;
    case "leave-child":
      await say(leaveChild());
      return undefined;
    case "crash":
      if ("code" in directive.how) process.exit(directive.how.code);
      process.kill(process.pid, directive.how.signal);
      // A signal is delivered in its own time; nothing may be said meanwhile.
      await new Promise<never>(() => undefined);
      return undefined;
    case "fail": {
      const { reason, message } = directive;
      const entry = reasonEntry(reason);
      return { reason, message: message === "" ? entry.message : message, retryable: entry.retryable };
    }
    case "first":
      return context.assignment.input.attempt > 1 ? undefined : performDirective(directive.directive, turn, emit);
    case "error":
      throw new Error(directive.text);
    case "stdout":
      process.stdout.write(`${directive.text}\n`);
      return undefined;
    case "stderr":
      process.stderr.write(`${directive.text}\n`);
      return undefined;
    case "silent":
      return undefined;
    case "usage": {
      const { inputTokens, outputTokens, costUsd } = directive;
      context.reportUsage({ inputTokens, outputTokens, ...(costUsd === undefined ? {} : { costUsd }) });
      return undefined;
    }
    case "title":
      await say(await setTitle(turn, directive.text));
      return undefined;
    case "append":
      await say(await appendRow(turn, directive.text));
      return undefined;
    case "history":
      await say(await readHistory(turn));
      return undefined;
    case "deaf":
      turn.signal = new AbortController().signal;
      return undefined;
    case "mute":
      context.muteHeartbeats(directive.ms);
      return undefined;
    case "repeat":
      await emit(repeated(directive.text, directive.count));
      return undefined;
    default:
      return assertNever(directive, "directive");
  }
}
