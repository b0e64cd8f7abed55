import { type Command, InvalidArgumentError, Option } from "commander";

import type { ConnectionOptions } from "./endpoint.js";

/** What every command may be given, as typed. */
export interface GlobalOptions extends ConnectionOptions {
  /** Whether the answer shall be JSON. */
  readonly json?: boolean;
  /** Whether errors shall show their details. */
  readonly verbose?: boolean;
}

const HEADING = "Global options:";

const definitions: readonly (readonly [flags: string, description: string])[] = [
  ["--home <dir>", "the home (default: $TALARIA_HOME, else ~/.talaria)"],
  [
    "--address <address>",
    "a gateway elsewhere: unix:<path>, <host>:<port> or tls:<host>:<port> (default: $TALARIA_ADDRESS)",
  ],
  ["--token <token>", "token for a gateway over TCP (default: $TALARIA_TOKEN)"],
  ["--context <name>", "a gateway that talaria contexts knows (default: $TALARIA_CONTEXT)"],
  ["--ca <file>", "certificates that may have signed the gateway's; turns TLS on"],
  ["--pin <pin>", "pin of the gateway's key; turns TLS on"],
  ["--json", "answer in JSON, one value a line"],
  ["--verbose", "add the details of errors"],
];

const makeOptions = (): Option[] =>
  definitions.map(([flags, description]) => {
    const option = new Option(flags, description).helpGroup(HEADING);
    return option.long === "--home" ? option.argParser(folder) : option;
  });

/** An empty text, as of a variable that is not set, would mean the folder in which the command was started. */
function folder(given: string): string {
  if (given === "") throw new InvalidArgumentError("It must not be empty.");
  return given;
}

/** Which options of a command are global ones: those that it does not define itself. */
const added = new WeakMap<Command, ReadonlySet<string>>();

/** Lets a command take the global options after its name too, except those that it has under the same name for itself. */
export function addGlobalOptions(command: Command): Command {
  if (added.has(command)) return command;
  const own = new Set(command.options.map((option) => option.long));
  const options = makeOptions().filter((option) => !own.has(option.long));
  for (const option of options) command.addOption(option);
  added.set(command, new Set(options.map((option) => option.attributeName())));
  return command;
}

/** The names of the global options that a command takes. */
export function globalOptionNames(command: Command): ReadonlySet<string> {
  return added.get(command) ?? new Set();
}

/** The global options of a command line: those after the command's name, else those before it. */
export function globalOptionsOf(command: Command): GlobalOptions {
  const names = added.get(command) ?? new Set();
  const before = command.parent === null ? {} : globalOptionsOf(command.parent);
  const here = Object.entries(command.opts()).filter(([name]) => names.has(name));
  return { ...before, ...Object.fromEntries(here) };
}

/** The options that a command defines itself. */
export function ownOptionsOf(command: Command): Readonly<Record<string, unknown>> {
  const names = added.get(command) ?? new Set();
  return Object.fromEntries(Object.entries(command.opts()).filter(([name]) => !names.has(name)));
}
