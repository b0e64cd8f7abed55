/** A rule of the contract that a worker broke, or did not show in time. */
export class CheckFailure extends Error {
  override readonly name = "CheckFailure";
}

/** Fails a check where `holds` is false. @throws CheckFailure. */
export function need(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new CheckFailure(otherwise);
}
