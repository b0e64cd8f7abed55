import { constants } from "node:os";
import { assertNever } from "../../../base/assertNever.js";
import { isReason } from "../../../rpc/reasons.js";
import { jsonObject } from "../../jsonObject.js";
import type { Directive } from "./directive.js";
import { DIRECTIVES, isVerb, type Verb } from "./directives.js";

/** Longest wait, milliseconds: a day. */
const LONGEST_MS = 86_400_000;
const MOST_DELTAS = 100_000_000;
const MOST_DELTA_BYTES = 65_536;
/** Most memory that is held, MiB. */
const MOST_HELD_MIB = 4_096;
const LONGEST_ANSWER = 64 * 1_048_576;

/** Reads a line that starts with `!`, without that character. @returns the directive, or what is wrong with the line. */
export function parseDirective(line: string): Directive | string {
  const [, word = "", rest = ""] = /^(\S*)\s*(.*)$/s.exec(line) ?? [];
  if (!isVerb(word)) return `There is no directive "!${word.slice(0, 64)}".`;
  return read(word, rest.trimEnd()) ?? `"!${word}" is written: ${DIRECTIVES[word].usage}`;
}

function read(verb: Verb, rest: string): Directive | undefined {
  switch (verb) {
    case "say":
    case "error":
    case "stdout":
    case "stderr":
      return { verb, text: rest };
    case "title":
    case "append":
      return rest === "" ? undefined : { verb, text: rest };
    case "tool":
    case "tool-error":
      return readTool(verb, rest);
    case "approve":
      return rest === "" ? undefined : { verb, command: rest };
    case "ask": {
      const [text = "", ...choices] = rest.split("|").map((part) => part.trim());
      return text === "" || choices.includes("") ? undefined : { verb, questions: [{ text, choices }] };
    }
    case "dm": {
      const [target, body] = twoParts(rest);
      return target === "" ? undefined : { verb, target, body };
    }
    case "child": {
      const tasks = rest.split("|").map((task) => task.trim().replaceAll("^", "\n"));
      return tasks.includes("") ? undefined : { verb, tasks };
    }
    case "check":
      return rest === "" || /\s/.test(rest) ? undefined : { verb, deliveryId: rest };
    case "sleep":
    case "spin":
    case "mute": {
      const ms = whole(rest, LONGEST_MS);
      return ms === undefined ? undefined : { verb, ms };
    }
    case "hold": {
      const mebibytes = whole(rest, MOST_HELD_MIB);
      return mebibytes === undefined ? undefined : { verb, mebibytes };
    }
    case "flood": {
      const [count, burst = 1, bytes = 32, ...more] = words(rest).map((word) => whole(word, MOST_DELTAS) ?? -1);
      if (count === undefined || count < 0 || burst < 1 || bytes < 1 || bytes > MOST_DELTA_BYTES || more.length > 0) {
        return undefined;
      }
      return { verb, count, burst, bytes };
    }
    case "hang-child":
    case "leave-child":
    case "silent":
    case "history":
    case "deaf":
      return rest === "" ? { verb } : undefined;
    case "crash":
      return readCrash(rest);
    case "fail": {
      const [reason, message] = twoParts(rest);
      return isReason(reason) ? { verb, reason, message } : undefined;
    }
    case "first": {
      const nested = rest.startsWith("!") ? parseDirective(rest.slice(1)) : "";
      return typeof nested === "string" ? undefined : { verb, directive: nested };
    }
    case "usage":
      return readUsage(rest);
    case "repeat": {
      const [times, text] = twoParts(rest);
      const count = whole(times, LONGEST_ANSWER);
      if (count === undefined || text === "" || count * text.length > LONGEST_ANSWER) return undefined;
      return { verb, count, text };
    }
    default:
      return assertNever(verb, "directive");
  }
}

/** The JSON text may itself hold the arrow: the first one that leaves an object before it counts. */
function readTool(verb: "tool" | "tool-error", rest: string): Directive | undefined {
  const [name, tail] = twoParts(rest);
  if (name === "" || name === "=>") return undefined;
  for (let at = tail.indexOf("=>"); at >= 0; at = tail.indexOf("=>", at + 2)) {
    const given = jsonObject(tail.slice(0, at).trim());
    if (given !== undefined) return { verb, name, arguments: given, result: tail.slice(at + 2).trim() };
  }
  const given = jsonObject(tail.trim());
  return given === undefined ? undefined : { verb, name, arguments: given, result: "" };
}

function readCrash(rest: string): Directive | undefined {
  if (rest === "") return { verb: "crash", how: { signal: "SIGKILL" } };
  if (Object.hasOwn(constants.signals, rest)) return { verb: "crash", how: { signal: rest as NodeJS.Signals } };
  const code = whole(rest, 255);
  return code === undefined ? undefined : { verb: "crash", how: { code } };
}

/** Numbers as they come: what is wrong with them is the receipt's to find. */
function readUsage(rest: string): Directive | undefined {
  const [input, output, cost, ...more] = words(rest);
  if (input === undefined || output === undefined || more.length > 0) return undefined;
  return {
    verb: "usage",
    inputTokens: Number(input),
    outputTokens: Number(output),
    costUsd: cost === undefined ? undefined : Number(cost),
  };
}

function twoParts(text: string): readonly [first: string, rest: string] {
  const [, first = "", rest = ""] = /^(\S*)\s*(.*)$/s.exec(text) ?? [];
  return [first, rest];
}

function words(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}

function whole(text: string, most: number): number | undefined {
  return /^[0-9]{1,12}$/.test(text) && Number(text) <= most ? Number(text) : undefined;
}
