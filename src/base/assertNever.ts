/**
 * Marks a branch that the type system has proved unreachable.
 * @throws Error always, naming the unexpected value's type and nothing of its contents.
 */
export function assertNever(value: never, what = "value"): never {
  throw new Error(`unexpected ${what} of type ${typeof value}`);
}
