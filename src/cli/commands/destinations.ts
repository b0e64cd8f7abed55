import {
  AdminServiceService,
  breakerStateToJSON,
  Destination,
  type Destination as DestinationMessage,
} from "../../gen/talaria/gateway/v1/admin_service.js";
import type { CommandContext } from "../commandContext.js";
import { failureText } from "../render/failureText.js";
import { localTime, shortName } from "../render/names.js";
import { table } from "../render/table.js";

/** Lists the gateways that messages go to. */
export async function destinationsList(context: CommandContext): Promise<void> {
  const gateway = await context.gateway();
  const { destinations } = await gateway.call(AdminServiceService.listDestinations, {});
  print(
    context,
    destinations.map((destination) => Destination.toJSON(destination)),
    destinations,
  );
}

/** Keeps the messages for a destination waiting. */
export async function destinationsHold(context: CommandContext, name: string, reason: string): Promise<void> {
  const gateway = await context.gateway();
  const requestId = context.newRequestId();
  const { destination } = await gateway.call(AdminServiceService.holdDestination, { requestId, name, reason });
  if (destination !== undefined) print(context, Destination.toJSON(destination), [destination]);
}

/** Ends a hold, and lets the destination be tried at once. */
export async function destinationsRelease(context: CommandContext, name: string): Promise<void> {
  const gateway = await context.gateway();
  const requestId = context.newRequestId();
  const { destination } = await gateway.call(AdminServiceService.releaseDestination, {
    requestId,
    name,
    keepHold: false,
  });
  if (destination !== undefined) print(context, Destination.toJSON(destination), [destination]);
}

/** Forgets a destination's failures, and lets it be tried at once unless it is held. */
export async function destinationsReset(context: CommandContext, name: string): Promise<void> {
  const gateway = await context.gateway();
  const requestId = context.newRequestId();
  const request = { requestId, name, keepHold: true };
  const { destination } = await gateway.call(AdminServiceService.releaseDestination, request);
  if (destination !== undefined) print(context, Destination.toJSON(destination), [destination]);
}

function print(context: CommandContext, json: unknown, destinations: readonly DestinationMessage[]): void {
  context.print(json, (columns) =>
    table(
      ["DESTINATION", "WAITING", "CLAIMED", "BREAKER", "NEXT TRY", "HELD", "RESET", "LAST ERROR"],
      destinations.map((one) => [
        one.name,
        String(one.waiting),
        String(one.claimed),
        shortName(breakerStateToJSON(one.breaker), "BREAKER_STATE_"),
        localTime(one.nextAttemptAt),
        one.heldBy === "" ? "" : `by ${one.heldBy} since ${localTime(one.heldAt)}: ${one.holdReason}`,
        one.resetBy === "" ? "" : `by ${one.resetBy} at ${localTime(one.resetAt)}`,
        failureText(one.lastError),
      ]),
      columns,
    ),
  );
}
