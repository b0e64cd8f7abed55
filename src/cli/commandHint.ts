/** Commands that show what a name may be, by the reason that refuses one. */
const COMMANDS: Readonly<Record<string, string | undefined>> = {
  UNKNOWN_AGENT: "talaria agents lists them; talaria agents new NAME makes one.",
  UNKNOWN_TARGET: "talaria agents lists who is here, talaria peers the other gateways and who is there.",
  UNKNOWN_PEER: "talaria peers lists them; talaria peers invite pairs with one.",
  UNKNOWN_SESSION: "talaria sessions lists them.",
  UNKNOWN_DELIVERY: "talaria deliveries lists them.",
  UNKNOWN_PROMPT: "talaria prompts lists those that wait.",
};

/** What to do about a name that the gateway does not know, in terms of this command; undefined where its own hint is as good. */
export function commandHint(reason: string): string | undefined {
  return COMMANDS[reason];
}
