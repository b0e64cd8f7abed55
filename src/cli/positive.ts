import { InvalidArgumentError } from "commander";

/** Reads a whole number above 0 from a command line. @throws InvalidArgumentError. */
export function positive(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new InvalidArgumentError("must be a whole number above 0.");
}
