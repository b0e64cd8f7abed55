/** What a change of deliveries asks of memory after its commit. Plain data; a command returns it. */
export interface DeliveryEffects {
  /** Ids of the deliveries that changed. */
  readonly changed: string[];
  /** Sessions that got an input. */
  readonly wake: string[];
}

/** Effects to collect into. */
export function noEffects(): DeliveryEffects {
  return { changed: [], wake: [] };
}
