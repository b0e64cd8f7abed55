import { type Turn, TurnServiceService } from "../../gen/talaria/gateway/v1/turn_service.js";
import type { CommandContext } from "../commandContext.js";
import type { GatewayClient } from "../gatewayClient.js";

/** Turns interrupts into a stop of the turn. */
export interface TurnStopper {
  /** Tells of the turn as it is; a stop that was asked for before goes out as soon as there is something to stop. */
  seen(turn: Turn | undefined): void;
  /** Takes no more interrupts. */
  end(): void;
}

/** The first interrupt stops the turn, or withdraws an input that has not started; the second leaves it by way of `leave`. */
export function createTurnStopper(
  context: CommandContext,
  gateway: GatewayClient,
  leave: AbortController,
): TurnStopper {
  let asked = false;
  let sent = "";
  let turn: Turn | undefined;
  const stop = async ({ executionId, inputId }: Turn): Promise<void> => {
    const requestId = context.newRequestId();
    if (executionId !== "") await gateway.call(TurnServiceService.stopTurn, { requestId, executionId });
    else await gateway.call(TurnServiceService.cancelInput, { requestId, inputId });
  };
  const send = (): void => {
    if (!asked || turn === undefined) return;
    const target = turn.executionId === "" ? turn.inputId : turn.executionId;
    if (target === sent) return;
    sent = target;
    stop(turn).catch((caught: unknown) => {
      // It has ended, or starts at this very moment: the stream tells which, and a start is stopped when it is seen.
      context.terminal.err(caught instanceof Error ? caught.message : String(caught));
    });
  };
  const onInterrupt = (): void => {
    if (asked) {
      leave.abort();
      return;
    }
    asked = true;
    context.terminal.err("Stopping the turn; interrupt again to leave it.");
    send();
  };
  process.on("SIGINT", onInterrupt);
  return {
    seen(next) {
      turn = next ?? turn;
      send();
    },
    end() {
      process.removeListener("SIGINT", onInterrupt);
    },
  };
}
