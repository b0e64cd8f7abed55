import type { RuntimeFailure } from "../runtime.js";

/** Why a request to a model failed. */
export interface ModelFailure extends RuntimeFailure {
  /** Whether the same request may be sent again at once, within the bounds of retries. */
  readonly again: boolean;
  /** How long the provider asks to wait first, milliseconds. */
  readonly waitMs?: number;
}

/** Carries a {@link ModelFailure} through the code that waits for an answer. */
export class ModelFailureError extends Error {
  override readonly name = "ModelFailureError";
  readonly failure: ModelFailure;

  constructor(failure: ModelFailure) {
    super(failure.message);
    this.failure = failure;
  }
}
