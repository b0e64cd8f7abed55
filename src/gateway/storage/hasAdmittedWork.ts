import type { Command } from "../../store/command.js";
import { admitDeliveries, admitDelivery } from "../../store/deliveries/admitDelivery.js";
import { admitInput } from "../../store/turns/admitInput.js";

type Admits = (result: unknown) => boolean;

function whether<Input, Result>(
  command: Command<Input, Result>,
  admits: (result: Result) => boolean,
): [string, Admits] {
  return [command.name, (result) => admits(result as Result)];
}

const ADMITTING: ReadonlyMap<string, Admits> = new Map([
  whether(admitInput, ({ kind }) => kind === "queued"),
  whether(admitDelivery, ({ kind }) => kind === "accepted"),
  whether(admitDeliveries, (admissions) => admissions.some(({ kind }) => kind === "accepted")),
]);

/**
 * Whether a command has just taken work from outside that was not there before: a turn, or a message of a client, an agent, a peer
 * or a connector. A replay has not, nor has what running work needs for its end.
 */
export function hasAdmittedWork(command: string, result: unknown): boolean {
  return ADMITTING.get(command)?.(result) ?? false;
}
