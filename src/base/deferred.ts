/** A promise with its two ends apart, for results that arrive by event. */
export interface Deferred<T> {
  /** Settles when one of the other two is called first. */
  readonly promise: Promise<T>;
  /** Fulfils the promise; later calls do nothing. */
  readonly resolve: (value: T) => void;
  /** Rejects the promise; later calls do nothing. */
  readonly reject: (error: unknown) => void;
}

/** Makes a {@link Deferred} that is pending. */
export function createDeferred<T>(): Deferred<T> {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
