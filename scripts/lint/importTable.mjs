import { posix, relative, sep } from "node:path";
import { root } from "../lib/paths.mjs";

/** The rooms of `src/`, and for each the other rooms its files may import. A room may always import itself. */
export const table = {
  base: [],
  gen: [],
  rpc: ["base", "gen"],
  store: ["base"],
  owner: ["base", "gen", "rpc", "store"],
  worker: ["base", "gen", "rpc"],
  dm: ["base", "gen", "rpc", "store"],
  connector: ["base", "gen", "rpc"],
  conformance: ["base", "gen", "rpc"],
  gateway: ["base", "gen", "rpc", "store", "owner", "dm"],
  client: ["base", "gen", "rpc"],
  cli: ["base", "gen", "rpc", "client"],
};

/** Files that may import one room more than their own room may. */
export const exceptions = [
  { files: /^src\/cli\/commands\/serve[^/]*(\/.*)?$/, room: "gateway" },
  { files: /^src\/cli\/commands\/(backup|restore)[^/]*(\/.*)?$/, room: "gateway" },
  { files: /^src\/cli\/commands\/relay[^/]*(\/.*)?$/, room: "connector" },
  { files: /^src\/cli\/commands\/conformance[^/]*(\/.*)?$/, room: "conformance" },
];

const testFile = /\.test\.ts$/;
const testingHelper = /^src\/[^/]+\/(.*\/)?(testing\/.*|testing\.[jt]s|[^/]+\.testing\.[jt]s)$/;
const roomOf = /^src\/([^/]+)\//;

/**
 * Decides one import.
 * @param {string} from the importing file, relative to the checkout, with forward slashes
 * @param {string} specifier the module as it is written in the import
 * @returns {string | undefined} why it is refused, naming both rooms; undefined where it is allowed or is a package
 */
export function refusal(from, specifier) {
  const fromRoom = roomOf.exec(from)?.[1];
  if (fromRoom === undefined || !specifier.startsWith(".")) return undefined;
  const to = posix.join(posix.dirname(from), specifier);
  const isTest = testFile.test(from);
  const isHelper = testingHelper.test(from);

  if (/^(test|bench|scripts)\//.test(to)) {
    if (isTest) return undefined;
    return `${fromRoom} may not import from ${to.split("/")[0]}: only tests may (${to}).`;
  }
  const toRoom = roomOf.exec(to)?.[1];
  if (toRoom === undefined) {
    return /^src\//.test(to) ? `${fromRoom} may not import ${to}, which is in no room.` : undefined;
  }
  if (testingHelper.test(to)) {
    if (isTest || isHelper) return undefined;
    return `${fromRoom} may not import ${to}: testing helpers are for tests.`;
  }
  if (toRoom === fromRoom) return undefined;
  const allowed = Object.hasOwn(table, fromRoom) ? table[fromRoom] : [];
  if (allowed.includes(toRoom)) return undefined;
  if (exceptions.some((exception) => exception.room === toRoom && exception.files.test(from))) return undefined;
  const may = allowed.length === 0 ? "nothing of ours" : allowed.join(", ");
  return `${fromRoom} may not import ${toRoom}: it may import ${may}.`;
}

/**
 * Decides whether a file below `src/` lies in a room.
 * @param {string} file relative to the checkout, with forward slashes
 * @returns {string | undefined} what is wrong with its place
 */
export function misplaced(file) {
  if (!file.startsWith("src/")) return undefined;
  const room = roomOf.exec(file)?.[1];
  if (room !== undefined && Object.hasOwn(table, room)) return undefined;
  return `${file} is in no room: the rooms of src are ${Object.keys(table).join(", ")}.`;
}

/** The ESLint rule: static and dynamic imports, re-exports and type imports obey the table. */
export const importTable = {
  meta: {
    type: "problem",
    docs: { description: "a room imports only the rooms that the import table grants it" },
    schema: [],
    messages: { refused: "{{ reason }}" },
  },
  create(context) {
    const file = posix.normalize(
      context.filename
        .slice(context.cwd.length + 1)
        .split(sep)
        .join("/"),
    );
    const check = (node, source) => {
      if (source === null || source === undefined || source.type !== "Literal" || typeof source.value !== "string")
        return;
      const reason = refusal(file, source.value);
      if (reason !== undefined) context.report({ node: source, messageId: "refused", data: { reason } });
    };
    const checkSource = (node) => check(node, node.source);
    return {
      Program(node) {
        const reason = misplaced(file);
        if (reason !== undefined) context.report({ node, messageId: "refused", data: { reason } });
      },
      ImportDeclaration: checkSource,
      ExportNamedDeclaration: checkSource,
      ExportAllDeclaration: checkSource,
      ImportExpression: checkSource,
      TSImportType: checkSource,
    };
  },
};
