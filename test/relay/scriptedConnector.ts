import { createHash } from "node:crypto";
import { systemClock } from "../../src/base/clock.js";
import {
  RelayServiceService,
  type ConnectRequest,
  type ConnectResponse,
} from "../../src/gen/talaria/dm/v1/relay_service.js";
import type { DeliverDMRequest, Receipt } from "../../src/gen/talaria/dm/v1/peer_service.js";
import type { GatewayInfo, RosterEntry } from "../../src/gen/talaria/dm/v1/roster.js";
import { DeliveryState } from "../../src/gen/talaria/dm/v1/delivery.js";
import { Liveness } from "../../src/gen/talaria/dm/v1/roster.js";
import { openBidi, type BidiCall } from "../../src/rpc/clients/openBidi.js";
import type { RpcError } from "../../src/rpc/rpcError.js";
import type { Identity } from "../../src/rpc/tls/identityKey.js";
import { toDuration, toTimestamp } from "../../src/rpc/wire/times.js";
import type { TestGateway } from "../dm/testGateway.js";

type Up = NonNullable<ConnectRequest["frame"]>;
type Down = NonNullable<ConnectResponse["frame"]>;

/** What a frame of a kind carries. */
export type DownOf<Case extends Down["$case"]> = Extract<Down, { $case: Case }>["value"];

type FrameOf<Case extends Down["$case"]> = Extract<Down, { $case: Case }>;

let epochs = 0n;

/** A connector whose every frame a test writes and reads. */
export class ScriptedConnector {
  readonly #call: BidiCall<ConnectRequest, ConnectResponse>;
  readonly #frames: Down[] = [];
  readonly #looks = new Set<() => void>();
  /** Why the call ended; undefined after success. */
  readonly ended: Promise<RpcError | undefined>;

  private constructor(call: BidiCall<ConnectRequest, ConnectResponse>, reads: boolean) {
    this.#call = call;
    this.ended = call.ended;
    if (reads) void this.#read();
  }

  /** Opens the call without a frame. @param reads whether it takes what the gateway sends */
  static async open(hub: TestGateway, identity: Identity, reads = true): Promise<ScriptedConnector> {
    const client = await hub.callerAs(identity);
    return new ScriptedConnector(openBidi(client, RelayServiceService.connect), reads);
  }

  /** Opens the call, says hello and waits for the welcome. */
  static async connect(
    hub: TestGateway,
    identity: Identity,
    more: { readonly info?: Partial<GatewayInfo>; readonly epoch?: bigint } = {},
  ): Promise<ScriptedConnector> {
    const connector = await ScriptedConnector.open(hub, identity);
    connector.send({
      $case: "hello",
      value: { info: { ...info(), ...more.info }, connectionEpoch: more.epoch ?? ++epochs },
    });
    await connector.next("welcome");
    return connector;
  }

  /** Sends a frame at once. */
  send(frame: Up): void {
    this.#call.sendNow({ frame });
  }

  /** Publishes a roster. */
  publish(...entries: readonly Partial<RosterEntry>[]): void {
    this.send({ $case: "roster", value: { entries: entries.map(row), fingerprint: "" } });
  }

  /** Takes the first frame of a kind, those before it of other kinds stay. @throws Error after 10 s */
  next<Case extends Down["$case"]>(kind: Case): Promise<DownOf<Case>> {
    return new Promise<DownOf<Case>>((resolve, reject) => {
      const take = resolve as (value: unknown) => void;
      const cancel = systemClock.after(10_000, () => {
        this.#looks.delete(look);
        reject(new Error(`no ${kind}; frames: ${this.#frames.map(({ $case }) => $case).join(", ")}`));
      });
      const look = (): void => {
        const index = this.#frames.findIndex(({ $case }) => $case === kind);
        if (index < 0) return;
        const [frame] = this.#frames.splice(index, 1) as [FrameOf<Case>];
        this.#looks.delete(look);
        cancel();
        take(frame.value);
      };
      this.#looks.add(look);
      look();
    });
  }

  /** Kinds of the frames that were not taken. */
  get untaken(): readonly string[] {
    return this.#frames.map(({ $case }) => $case);
  }

  /** Takes the next lease of one message. */
  async lease(): Promise<{ readonly leaseId: bigint; readonly item: DeliverDMRequest }> {
    const { leaseId, items } = await this.next("lease");
    const [item] = items;
    if (item === undefined || items.length !== 1) throw new Error(`a lease of ${String(items.length)} messages`);
    return { leaseId, item };
  }

  /** Says that a leased message is on disk. */
  accept(leaseId: bigint, key: string): void {
    const hop = { gateway: "laptop", acceptedAt: toTimestamp(systemClock.now()), attempt: 1, deliveryId: "del_there" };
    const acceptance = { hop, replayed: false, position: 1, receipt: undefined };
    this.send({ $case: "accepted", value: { leaseId, key, acceptance } });
  }

  /** Sends one receipt. */
  receipt(key: string, more: Partial<Receipt> = {}): void {
    this.send({ $case: "receipts", value: { receipts: [receipt(key, more)] } });
  }

  /** Closes the connector's half and waits for the end. */
  async leave(): Promise<void> {
    this.#call.end();
    await this.ended;
  }

  /** Cuts the call. */
  cut(): void {
    this.#call.cancel();
  }

  async #read(): Promise<void> {
    try {
      for await (const { frame } of this.#call.responses) {
        if (frame === undefined) continue;
        this.#frames.push(frame);
        for (const look of [...this.#looks]) look();
      }
    } catch {
      // `ended` says why.
    }
  }
}

/** A receipt; by default a reply in capitals. */
export function receipt(key: string, more: Partial<Receipt> = {}): Receipt {
  return {
    key,
    attemptEpoch: 1,
    state: DeliveryState.DELIVERY_STATE_REPLIED,
    reply: {
      text: "PONG",
      truncated: false,
      sha256: createHash("sha256").update("PONG").digest(),
      codePoints: 4n,
      repliedAt: toTimestamp(0),
    },
    failure: undefined,
    position: 0,
    updatedAt: toTimestamp(systemClock.now()),
    deliveryId: "del_there",
    ...more,
  };
}

/** What a connector says of itself. */
export function info(): GatewayInfo {
  return {
    name: "elsewhere",
    version: "0.0.0",
    protocolMin: 1,
    protocolMax: 1,
    dedupeHorizon: toDuration(172_800_000),
    messageLifetime: toDuration(86_400_000),
    maxBodyCodePoints: 16_000,
    storeId: "store-1",
    saidAt: undefined,
  };
}

/** A row of a roster. */
export function row(more: Partial<RosterEntry>): RosterEntry {
  const name = more.name ?? "dana";
  return {
    name,
    handle: name,
    title: name,
    description: "",
    liveness: Liveness.LIVENESS_ONLINE,
    main: false,
    address: "",
    ...more,
  };
}
