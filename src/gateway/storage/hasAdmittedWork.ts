import type { Command } from "../../store/command.js";
import { admitDeliveries, admitDelivery } from "../../store/deliveries/admitDelivery.js";
import { redriveDelivery } from "../../store/deliveries/redriveDelivery.js";
import { admitInput } from "../../store/turns/admitInput.js";
import { putAttachment } from "../../store/turns/putAttachment.js";
import { createSession } from "../../store/turns/sessionRequests.js";

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
  whether(createSession, (made) => made.kind === "done" && !made.replayed),
  whether(putAttachment, ({ kind }) => kind === "stored"),
  // The same request again changes nothing.
  whether(redriveDelivery, (redrive) => redrive.kind === "redriven" && redrive.effects.changed.length > 0),
  whether(admitDeliveries, (admissions) => admissions.some(({ kind }) => kind === "accepted")),
]);

/**
 * Whether a command has just taken work, or what work is made of, from outside that was not there before: a turn, a session, a file, or a
 * message of a client, an agent, a peer or a connector, also one that is sent again. A replay has not, nor has what running work needs for its end.
 */
export function hasAdmittedWork(command: string, result: unknown): boolean {
  return ADMITTING.get(command)?.(result) ?? false;
}
