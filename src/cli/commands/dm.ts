import {
  Delivery,
  deliveryStateToJSON,
  DeliveryState,
  type Delivery as DeliveryMessage,
} from "../../gen/talaria/dm/v1/delivery.js";
import { DirectMessageServiceService } from "../../gen/talaria/dm/v1/direct_message_service.js";
import { pages } from "../../rpc/clients/pages.js";
import { leavesDoubt } from "../../rpc/leavesDoubt.js";
import { reasonOfNumber } from "../../rpc/reasons.js";
import { RpcError } from "../../rpc/rpcError.js";
import { CliError } from "../cliError.js";
import type { CommandContext } from "../commandContext.js";
import type { GatewayClient } from "../gatewayClient.js";
import { failureText } from "../render/failureText.js";
import { localTime, shortName } from "../render/names.js";
import { table } from "../render/table.js";
import { inTrace } from "../tracing/inTrace.js";

/** A message as typed. */
export interface DmSendOptions {
  readonly target: string;
  readonly body: string;
  readonly from?: string;
  readonly inReplyTo?: string;
  readonly requestId?: string;
  readonly wait?: boolean;
}

/**
 * Sends a message; with `wait`, prints the reply. An interrupt, or a gateway that goes away, ends the waiting only: the message is on disk
 * by then, and the error names it. @throws CliError where the delivery ends without a reply, or the waiting does.
 */
export function dmSend(context: CommandContext, options: DmSendOptions): Promise<void> {
  return inTrace(context, "talaria dm send", (gateway) => send(context, gateway, options));
}

async function send(context: CommandContext, gateway: GatewayClient, options: DmSendOptions): Promise<void> {
  const requestId = options.requestId ?? context.newRequestId();
  const { delivery } = await gateway
    .call(DirectMessageServiceService.sendDirectMessage, {
      requestId,
      target: options.target,
      body: options.body,
      inReplyTo: options.inReplyTo ?? "",
      onBehalfOf: options.from ?? "",
      trace: undefined,
    })
    .catch((caught: unknown) => {
      if (!(caught instanceof RpcError) || !leavesDoubt(caught)) throw caught;
      const hint = `It may have been sent: with --request-id ${requestId} the same command sends it once, however often.`;
      throw new CliError(caught.reason, caught.message, hint, { cause: caught });
    });
  if (delivery === undefined) return;
  if (options.wait !== true) {
    context.print(Delivery.toJSON(delivery), () => `${delivery.deliveryId} ${stateOf(delivery)}`);
    return;
  }
  const ended = await lastOf(gateway, delivery);
  const replied = ended.state === DeliveryState.DELIVERY_STATE_REPLIED;
  if (context.json || replied) context.print(Delivery.toJSON(ended), () => ended.reply?.text ?? "");
  if (!replied && ended.state !== DeliveryState.DELIVERY_STATE_SILENT) throw failureOf(ended);
}

/** Shows one delivery. */
export async function dmShow(context: CommandContext, deliveryId: string): Promise<void> {
  const gateway = await context.gateway();
  const { delivery } = await gateway.call(DirectMessageServiceService.getDelivery, { deliveryId });
  if (delivery !== undefined) context.print(Delivery.toJSON(delivery), () => describe(delivery));
}

/** Which deliveries are listed. */
export interface DmListOptions {
  /** A local agent. */
  readonly agent?: string;
  /** A peer or connector. */
  readonly gateway?: string;
  /** A state as it is shown, such as `queued`. */
  readonly state?: string;
  /** Only what can be redriven. */
  readonly dead?: boolean;
  /** Most rows, 1 or more. */
  readonly limit: number;
}

/** The states from which a delivery can be redriven. */
const DEAD: readonly DeliveryState[] = [DeliveryState.DELIVERY_STATE_FAILED, DeliveryState.DELIVERY_STATE_EXPIRED];

/** Lists deliveries, newest first. @throws CliError where dead letters of a state are asked for that has none. */
export async function dmList(context: CommandContext, options: DmListOptions): Promise<void> {
  const { agent = "", gateway: elsewhere = "", limit } = options;
  const states = statesOf(options);
  const gateway = await context.gateway();
  const found: DeliveryMessage[] = [];
  const read = (pageToken: string) => {
    const pageSize = Math.min(100, limit - found.length);
    const request = { pageSize, pageToken, states, agent, gateway: elsewhere };
    return gateway.call(DirectMessageServiceService.listDeliveries, request);
  };
  for await (const page of pages(read)) {
    found.push(...page.deliveries);
    if (found.length >= limit) break;
  }
  context.print(
    found.map((delivery) => Delivery.toJSON(delivery)),
    (columns) =>
      table(
        ["DELIVERY", "STATE", "FROM", "TO", "CREATED"],
        found.map((delivery) => [
          delivery.deliveryId,
          stateOf(delivery),
          delivery.sender?.id ?? "",
          delivery.target,
          localTime(delivery.createdAt),
        ]),
        columns,
      ),
  );
}

function statesOf({ state, dead = false }: DmListOptions): DeliveryState[] {
  if (state === undefined) return dead ? [...DEAD] : [];
  const named = DeliveryState[`DELIVERY_STATE_${state.toUpperCase()}` as keyof typeof DeliveryState];
  if (!dead || DEAD.includes(named)) return [named];
  throw new CliError("INVALID_FIELD", `A message that is ${state} is no dead letter.`, "Leave out --state or --dead.");
}

/** Prints a delivery at each change, until its end. */
export async function dmWatch(context: CommandContext, deliveryId: string): Promise<void> {
  const gateway = await context.gateway();
  const watch = gateway.stream(DirectMessageServiceService.watchDelivery, { deliveryId, cursor: undefined });
  for await (const { delivery } of watch) {
    if (delivery === undefined) continue;
    context.print(Delivery.toJSON(delivery), () => {
      const reply = delivery.reply === undefined ? "" : `: ${delivery.reply.text}`;
      const failure = delivery.failure === undefined ? "" : `: ${failureText(delivery.failure)}`;
      return `${stateOf(delivery)}${reply}${failure}`;
    });
  }
}

async function lastOf(gateway: GatewayClient, sent: DeliveryMessage): Promise<DeliveryMessage> {
  let last = sent;
  const { deliveryId } = sent;
  const left = new AbortController();
  const leave = (): void => {
    left.abort(new RpcError("CANCELLED", { message: "Interrupted." }));
  };
  process.once("SIGINT", leave);
  try {
    const request = { deliveryId, cursor: undefined };
    const watch = gateway.stream(DirectMessageServiceService.watchDelivery, request, { signal: left.signal });
    for await (const { delivery } of watch) last = delivery ?? last;
    return last;
  } catch (caught) {
    if (!(caught instanceof RpcError)) throw caught;
    const hint = `The message was sent; talaria deliveries watch ${deliveryId} follows it.`;
    throw new CliError(caught.reason, caught.message, hint, { cause: caught });
  } finally {
    process.removeListener("SIGINT", leave);
  }
}

function stateOf(delivery: DeliveryMessage): string {
  return shortName(deliveryStateToJSON(delivery.state), "DELIVERY_STATE_");
}

function failureOf(delivery: DeliveryMessage): CliError {
  const { failure } = delivery;
  const reason = failure === undefined ? undefined : reasonOfNumber(failure.reason);
  const message = `The delivery ${delivery.deliveryId} ended ${stateOf(delivery)}: ${failure?.message ?? "no cause was given"}`;
  return new CliError(reason ?? "UNKNOWN_ERROR", message, failure?.hint ?? "");
}

function describe(delivery: DeliveryMessage): string {
  const { reply, failure, lastError } = delivery;
  const lines: [string, string][] = [
    ["delivery", delivery.deliveryId],
    ["state", stateOf(delivery)],
    ["from", delivery.sender?.id ?? ""],
    ["to", delivery.target],
    ["created", localTime(delivery.createdAt)],
    ["expires", localTime(delivery.expiresAt)],
    ["claimed", localTime(delivery.claimedAt)],
    ["ended", localTime(delivery.endedAt)],
    ["attempts", String(delivery.attempts)],
    ["position", delivery.position === 0 ? "" : String(delivery.position)],
    ["path", delivery.hops.map(({ gateway }) => gateway).join(" > ")],
    ["body", delivery.bodyRemoved ? "(removed)" : delivery.body],
    ["reply", reply?.text ?? ""],
    ["failure", failureText(failure)],
    ["last error", failureText(lastError)],
  ];
  return lines
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `${name.padEnd(11)}${value}`)
    .join("\n");
}
