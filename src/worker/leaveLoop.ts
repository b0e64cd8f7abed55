/** Lets what was written leave: frames and calls go when the loop is given up, however early they were made. */
export function leaveLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
