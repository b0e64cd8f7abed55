import type { ChannelOptions } from "@grpc/grpc-js";
import { LIMITS } from "../base/limits.js";

/** What a channel is for: calls or streams on a Unix socket, unary calls or long streams over TCP. */
export type ChannelPurpose = "unix" | "unixStream" | "tcp" | "tcpStream";

/** What a channel may be given besides its purpose. */
export interface ChannelSettings {
  /** What the channel is for. */
  readonly purpose: ChannelPurpose;
  /** Whether the connection is its own even where another channel has the same address; default false. */
  readonly ownConnection?: boolean;
  /** Receive window of each stream, bytes; default the 64 KiB of HTTP/2. */
  readonly windowBytes?: number;
}

/** Limits on messages that both ends of every channel have. */
export const MESSAGE_LIMIT_OPTIONS = {
  "grpc.max_receive_message_length": LIMITS.transportMessageBytes,
  "grpc.max_send_message_length": LIMITS.transportMessageBytes,
} as const;

/**
 * Options of a client channel. grpc-js ignores unknown options silently, so channels take theirs from here only. Source of
 * the values: DESIGN section 3 and the transport table of the design's references.
 */
export function channelOptions({ purpose, ownConnection = false, windowBytes }: ChannelSettings): ChannelOptions {
  const unix = purpose === "unix" || purpose === "unixStream";
  const stream = purpose === "unixStream" || purpose === "tcpStream";
  return {
    ...MESSAGE_LIMIT_OPTIONS,
    // A stopped peer is noticed by keepalive alone. Foreign servers tolerate one ping a minute, our own sockets more.
    "grpc.keepalive_time_ms": unix ? 10_000 : 60_000,
    "grpc.keepalive_timeout_ms": unix ? 5_000 : 20_000,
    "grpc.keepalive_permit_without_calls": unix ? 1 : 0,
    "grpc.initial_reconnect_backoff_ms": unix ? 50 : 500,
    "grpc.min_reconnect_backoff_ms": unix ? 50 : 500,
    "grpc.max_reconnect_backoff_ms": unix ? 2_000 : 30_000,
    "grpc.enable_channelz": 0,
    // The default copies the whole queue per message until 1 MiB is buffered, and hides back pressure until then.
    ...(stream ? { "grpc.per_rpc_retry_buffer_size": LIMITS.streamRetryBufferBytes } : {}),
    ...(ownConnection ? { "grpc.use_local_subchannel_pool": 1 } : {}),
    ...(windowBytes === undefined ? {} : { "grpc-node.flow_control_window": windowBytes }),
  };
}

/** Options of a server. `unix` says whether its clients are on this machine. */
export function serverOptions(unix: boolean): ChannelOptions {
  return {
    ...MESSAGE_LIMIT_OPTIONS,
    "grpc.keepalive_time_ms": unix ? 10_000 : 60_000,
    "grpc.keepalive_timeout_ms": unix ? 5_000 : 20_000,
    ...(unix ? {} : { "grpc.max_connection_age_ms": 30 * 60_000, "grpc.max_connection_age_grace_ms": 30_000 }),
    ...(unix ? {} : { "grpc.max_concurrent_streams": 256 }),
    "grpc.enable_channelz": 0,
  };
}
