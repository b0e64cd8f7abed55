/** What a change of deliveries asks of memory after its commit. Plain data; a command returns it. */
export interface DeliveryEffects {
  /** Ids of the deliveries that changed. */
  readonly changed: string[];
  /** Sessions that got an input. */
  readonly wake: string[];
  /** Ids of the deliveries that became dead letters of this gateway: what another one sent is its sender's to redrive. */
  readonly dead: string[];
}

/** Effects to collect into. */
export function noEffects(): DeliveryEffects {
  return { changed: [], wake: [], dead: [] };
}
