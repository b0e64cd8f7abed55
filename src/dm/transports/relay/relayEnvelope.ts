import type { DeliverDMRequest } from "../../../gen/talaria/dm/v1/peer_service.js";
import { readDelivery } from "../../../store/deliveries/readDelivery.js";
import type { TraceContext } from "../../../rpc/traceContext.js";
import type { StoredDelivery } from "../../../store/deliveries/storedDelivery.js";
import type { Queryable } from "../../../store/sql.js";
import { remoteScope } from "../../admission/sender.js";
import { makeEnvelope } from "../peer/makeEnvelope.js";

/**
 * A message as it is leased to its connector, or undefined once its body is gone. Attempts are the leases, this one included.
 * @param trace position that the connector's side of it is below
 */
export function relayEnvelope(
  from: Queryable,
  delivery: StoredDelivery,
  now: number,
  trace: TraceContext | undefined,
): DeliverDMRequest | undefined {
  const request = makeEnvelope(from, delivery, now, trace);
  if (request?.envelope === undefined) return undefined;
  const { inReplyTo, recipientGateway, attempts } = delivery;
  const answered = inReplyTo === "" ? undefined : readDelivery(from, inReplyTo);
  const known =
    answered?.principalScope === remoteScope(recipientGateway, true) ? answered.key : request.envelope.inReplyTo;
  return { ...request, envelope: { ...request.envelope, inReplyTo: known, attempt: attempts } };
}
