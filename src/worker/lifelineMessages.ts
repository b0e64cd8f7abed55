/** What the lifeline's thread tells the main loop. */
export type LifelineEvent =
  { readonly kind: "token"; readonly token: string } | { readonly kind: "noToken" } | { readonly kind: "ownerGone" };

/** What the main loop tells the lifeline's thread. */
export type LifelineOrder =
  /** Milliseconds that the process may live once its owner is gone. */
  | { readonly kind: "grace"; readonly ms: number }
  /** The Attach stream is lost, so the owner is as good as gone: the grace begins. */
  | { readonly kind: "orphaned" };
