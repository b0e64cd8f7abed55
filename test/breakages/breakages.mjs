import { messageBreakages } from "./messages.mjs";
import { operatorBreakages } from "./operators.mjs";
import { turnBreakages } from "./turns.mjs";

/**
 * A rule, the change that breaks it, and the test that must then fail.
 * @typedef {object} Breakage
 * @property {string} name short name, for the command line
 * @property {string} rule the rule, in a line
 * @property {string} file file that holds the rule
 * @property {string} find text of the file that is replaced; stands there once
 * @property {string} replace what it is replaced by
 * @property {string} test file of the test
 * @property {string} title pattern of the test's title
 * @property {boolean} [bundled] whether the rule is kept in a process that the test starts, and `dist` is to be built of the
 *   broken tree; default false, the rule is kept in the test's own process
 */

/** The most important rules, each with a breakage that a named test catches. @type {readonly Breakage[]} */
export const breakages = [...turnBreakages, ...messageBreakages, ...operatorBreakages];
