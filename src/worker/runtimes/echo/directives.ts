/** One directive of the echo runtime, for people. */
export interface DirectiveHelp {
  /** How it is written. */
  readonly usage: string;
  /** What it does, in one line. */
  readonly help: string;
}

/**
 * Every directive of the echo runtime: a line of the input that starts with `!` and the verb. All other lines are echoed. The
 * table of the README is held to this one.
 */
export const DIRECTIVES = {
  say: { usage: "!say TEXT", help: "Echoes TEXT, which may itself start with `!`." },
  tool: { usage: "!tool NAME JSON => RESULT", help: "Calls a tool with these arguments; it answers RESULT." },
  "tool-error": { usage: "!tool-error NAME JSON => RESULT", help: "Calls a tool that fails with RESULT." },
  approve: {
    usage: "!approve COMMAND",
    help: "Asks approval for COMMAND and answers with the choice, or why it was denied.",
  },
  ask: {
    usage: "!ask QUESTION | CHOICE | CHOICE",
    help: "Asks a person; lines that follow one another are one batch.",
  },
  dm: {
    usage: "!dm TARGET BODY",
    help: "Sends a direct message and answers with its delivery, or why it was refused.",
  },
  check: { usage: "!check DELIVERY_ID", help: "Looks at a delivery; `last` is the one this turn sent last." },
  child: {
    usage: "!child TASK | TASK",
    help: "Gives tasks to child turns, all at once, and answers with theirs; a caret in a task breaks its line.",
  },
  sleep: { usage: "!sleep MS", help: "Waits; Stop ends the wait." },
  spin: { usage: "!spin MS", help: "Keeps the worker's loop busy, so that nothing else runs in it." },
  hold: { usage: "!hold MIB", help: "Holds so much memory until the turn's end." },
  flood: {
    usage: "!flood COUNT [BURST] [BYTES]",
    help: "Streams COUNT deltas of BYTES (default 32) as reasoning, BURST (default 1) in each turn of the loop.",
  },
  "hang-child": {
    usage: "!hang-child",
    help: "Starts a child that ignores SIGTERM, in the worker's group, and waits for its end.",
  },
  "leave-child": { usage: "!leave-child", help: "Starts such a child and leaves it behind." },
  crash: {
    usage: "!crash [CODE|SIGNAL]",
    help: "Ends the worker at once: by SIGKILL, with an exit code, or by a signal.",
  },
  fail: { usage: "!fail REASON MESSAGE", help: "Ends the turn as failed, with a reason of the registry." },
  first: { usage: "!first DIRECTIVE", help: "Obeys DIRECTIVE in the first attempt at the input only." },
  error: { usage: "!error TEXT", help: "Throws inside the runtime, which ends the worker with an error frame." },
  stdout: { usage: "!stdout TEXT", help: "Writes to the worker's standard output, which goes to its log." },
  stderr: { usage: "!stderr TEXT", help: "Writes to the worker's standard error, which goes to its log." },
  silent: { usage: "!silent", help: "Answers `[SILENT]` and nothing else." },
  usage: { usage: "!usage IN OUT [COST]", help: "Reports tokens and a cost in US dollars; `NaN` is taken too." },
  title: { usage: "!title TEXT", help: "Names the session." },
  append: { usage: "!append TEXT", help: "Adds an assistant's row to the transcript." },
  history: { usage: "!history", help: "Answers with the number of rows and the last user's text." },
  deaf: { usage: "!deaf", help: "Ignores Stop from here on." },
  mute: { usage: "!mute MS", help: "Sends no heartbeats for a while." },
  repeat: { usage: "!repeat COUNT TEXT", help: "Answers with TEXT, COUNT times: for long answers." },
} as const satisfies Record<string, DirectiveHelp>;

/** The verb of a directive. */
export type Verb = keyof typeof DIRECTIVES;

/** Whether a word is a verb. */
export function isVerb(word: string): word is Verb {
  return Object.hasOwn(DIRECTIVES, word);
}
