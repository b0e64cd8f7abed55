import type { Random } from "./random.js";

declare const brand: unique symbol;

/** Every prefix an id may have, so that a log line says what an id names. */
export const ID_PREFIXES = ["ses", "inp", "exe", "del", "prm", "evt", "req", "lau", "att"] as const;

/** One of {@link ID_PREFIXES}. */
export type IdPrefix = (typeof ID_PREFIXES)[number];

/**
 * An id with the given prefix: `<prefix>_` and 26 characters. They carry 130 random bits; those of deliveries begin with their time
 * instead, so that neighbours in time are neighbours in an index, and carry 80.
 */
export type Id<Prefix extends IdPrefix> = string & { readonly [brand]: Prefix };

/** Names a session: one agent's conversation. */
export type SessionId = Id<"ses">;
/** Names an input: one thing a session was asked. */
export type InputId = Id<"inp">;
/** Names an execution: one attempt at an input. */
export type ExecutionId = Id<"exe">;
/** Names a delivery: one direct message's record on this gateway. */
export type DeliveryId = Id<"del">;
/** Names a prompt: one approval or clarify question. */
export type PromptId = Id<"prm">;
/** Names an event where it must be referred to outside its session's sequence. */
export type EventId = Id<"evt">;
/** Names a request that a caller may repeat. */
export type RequestId = Id<"req">;
/** Names a launch: one worker process that this home started. */
export type LaunchId = Id<"lau">;

/** Names an attachment: one file that was uploaded for turns. */
export type AttachmentId = Id<"att">;

/** An agent's name: its folder's name under `agents/`. */
export type AgentName = string & { readonly [brand]: "agent" };

const ID_TEXT = /^[a-z]{3}_[0-9a-z]{26}$/;
const NAME_TEXT = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const RANDOM_CHARACTERS = 26;

/** Makes an id that was never used before, by the width of its random part. */
export function newId<Prefix extends IdPrefix>(prefix: Prefix, random: Random): Id<Prefix> {
  let text: string = `${prefix}_`;
  for (const byte of random.bytes(RANDOM_CHARACTERS)) text += ALPHABET.charAt(byte & 31);
  return text as Id<Prefix>;
}

/** Whether `text` is an id with this prefix. */
export function isId<Prefix extends IdPrefix>(prefix: Prefix, text: string): text is Id<Prefix> {
  return text.startsWith(`${prefix}_`) && ID_TEXT.test(text);
}

/** Reads an id that came from outside, or undefined where it is none with this prefix. */
export function parseId<Prefix extends IdPrefix>(prefix: Prefix, text: string): Id<Prefix> | undefined {
  return isId(prefix, text) ? text : undefined;
}

/** Whether `text` may name an agent, a gateway, a peer or a connector: `[a-z0-9][a-z0-9_-]{0,63}`. */
export function isName(text: string): boolean {
  return NAME_TEXT.test(text);
}

/** Reads an agent name that came from outside, or undefined where the grammar of {@link isName} refuses it. */
export function parseAgentName(text: string): AgentName | undefined {
  return isName(text) ? (text as AgentName) : undefined;
}
