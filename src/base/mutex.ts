/** Lets one asynchronous section run at a time, in the order of the calls. */
export class Mutex {
  #tail: Promise<void> = Promise.resolve();

  /** Runs `section` after every earlier one has settled; settles as it does. A failure does not stop later ones. */
  run<T>(section: () => Promise<T>): Promise<T> {
    const result = this.#tail.then(section);
    this.#tail = result.then(
      () => undefined,
      () => undefined,
    );
    return result;
  }
}
