import type { Command, CommanderError } from "commander";

import { nearestKey } from "../base/config/nearestKey.js";
import { pathOf } from "./pathOf.js";

/** What is wrong with a command line, and what to do. */
export interface UsageProblem {
  readonly message: string;
  readonly hint: string;
}

/** Explains what commander has found wrong, with the nearest command or option where one is near. */
export function usageProblem(program: Command, args: readonly string[], error: CommanderError): UsageProblem {
  const { command, rest } = meant(program, args);
  const help = `See: ${pathOf(command)} --help`;
  const [first = "", suggestion = ""] = error.message.replace(/^error: /, "").split("\n");
  const [word = ""] = rest;
  // A group whose list is its default takes a mistyped command for an argument of the list.
  if (error.code === "commander.excessArguments" && command.commands.length > 0 && word !== "")
    return noCommand(command, word);
  const message = `${first.charAt(0).toUpperCase()}${first.slice(1)}${/[.!?]$/.test(first) ? "" : "."}`;
  return { message, hint: suggestion === "" ? help : `${suggestion.replace(/^\((.*)\)$/, "$1")} ${help}` };
}

/** What is wrong with a command line that asks for the help of a command that there is not; undefined for any other. */
export function helpProblem(program: Command, args: readonly string[]): UsageProblem | undefined {
  const { command, rest } = meant(program, args);
  const [verb, word] = rest;
  if (verb !== "help" || word === undefined || word === "help" || word.startsWith("-") || command.commands.length === 0)
    return undefined;
  const known = command.commands.some((one) => one.name() === word || one.aliases().includes(word));
  return known ? undefined : noCommand(command, word);
}

function noCommand(command: Command, word: string): UsageProblem {
  const help = `See: ${pathOf(command)} --help`;
  const near = nearestKey(
    word,
    command.commands.map((one) => one.name()),
  );
  return {
    message: `There is no command ${pathOf(command)} ${word}.`,
    hint: near === undefined ? help : `Did you mean ${near}? ${help}`,
  };
}

/** The command that the words lead to, and the words after it. Options are passed over with their values. */
function meant(
  program: Command,
  args: readonly string[],
): { readonly command: Command; readonly rest: readonly string[] } {
  let command = program;
  let valueNext = false;
  for (const [index, arg] of args.entries()) {
    if (valueNext) valueNext = false;
    else if (arg.startsWith("-")) {
      const option = command.options.find(({ long, short }) => long === arg || short === arg);
      valueNext = option?.required === true;
    } else {
      const next = command.commands.find((one) => one.name() === arg || one.aliases().includes(arg));
      if (next === undefined) return { command, rest: args.slice(index) };
      command = next;
    }
  }
  return { command, rest: [] };
}
