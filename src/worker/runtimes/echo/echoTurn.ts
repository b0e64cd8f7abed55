import type { TurnContext } from "../../turnContext.js";

/** What the steps of one script share. */
export interface EchoTurn {
  readonly context: TurnContext;
  /** Aborts with Stop; never once the script has asked to be deaf. */
  signal: AbortSignal;
  /** Delivery that was sent last; empty before. */
  lastDeliveryId: string;
  /** Memory that is held until the turn's end. */
  readonly held: Buffer[];
}
