import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * What a target was made of, and what was made: paths relative to the checkout, each with a digest of the file's content. `found`
 * holds the modules that the command imports by `import()`, for a target that looks for them.
 * @typedef {{ inputs: Record<string, string>, outputs: Record<string, string>, found: string[] }} Made
 */

/** Where a checkout keeps the records of its last build: beside what else is made for it, not in what is packed. */
const RECORDS = join(".tools", "built.json");

/** What decides a build besides the settings and sources of a target: how names are resolved, and these scripts. */
const EVERYWHERE = [
  "package.json",
  "tsconfig.json",
  "node_modules/.package-lock.json",
  "scripts/build.mjs",
  "scripts/lib/builtBefore.mjs",
];

/** Times of files may lie behind the clock by this much, milliseconds. */
const CLOCK_STEP_MS = 20;

/** @param {string | Uint8Array} content */
const digest = (content) => createHash("sha1").update(content).digest("base64");

/**
 * Knows what the last build made, so that a target is made again only where a file that went into it has another content, or one
 * that came out of it is not as it was. Content decides and never a time, so a copy of the checkout is known too.
 */
export class BuiltBefore {
  #root;
  /** @type {Record<string, Made>} */
  #before = {};
  /** @type {Record<string, Made>} */
  #now = {};
  /** Digests of files that were looked at: a file counts as it was when a build first looked. @type {Map<string, string>} */
  #digests = new Map();
  #beganAt = Date.now();

  /**
   * @param {string} root absolute path of the checkout
   * @param {boolean} trusted whether anything of the last build may be kept
   */
  constructor(root, trusted) {
    this.#root = root;
    try {
      if (trusted) this.#before = JSON.parse(readFileSync(join(root, RECORDS), "utf8"));
    } catch {
      // Nothing was built here, or nobody can tell what.
    }
  }

  /** @param {string} file @returns {string} a digest of the file's content; empty where there is no such file */
  #digestOf(file) {
    const known = this.#digests.get(file);
    if (known !== undefined) return known;
    const whole = join(this.#root, file);
    const made = existsSync(whole) ? digest(readFileSync(whole)) : "";
    this.#digests.set(file, made);
    return made;
  }

  /**
   * @param {unknown} settings everything that decides what is made, but for the content of files
   * @returns {string} the key of a record
   */
  key(settings) {
    const everywhere = EVERYWHERE.map((file) => [file, this.#digestOf(file)]);
    return digest(JSON.stringify([settings, everywhere]));
  }

  /**
   * @param {string} key
   * @returns {Made | undefined} what was made under the key, if making it again would change nothing
   */
  find(key) {
    const made = this.#before[key];
    if (made === undefined) return undefined;
    const files = [...Object.entries(made.inputs), ...Object.entries(made.outputs)];
    if (files.some(([file, content]) => this.#digestOf(file) !== content)) return undefined;
    this.#now[key] = made;
    return made;
  }

  /**
   * Keeps what was made under a key, unless an input was written meanwhile: nobody knows which content went into it.
   * @param {string} key
   * @param {readonly string[]} inputs paths; what is no file is made by the scripts themselves
   * @param {ReadonlyMap<string, Uint8Array>} outputs contents by path
   * @param {Iterable<string>} found
   * @returns {Made}
   */
  add(key, inputs, outputs, found) {
    const made = {
      inputs: Object.fromEntries(inputs.map((file) => [file, this.#digestOf(file)])),
      outputs: Object.fromEntries([...outputs].map(([file, content]) => [file, digest(content)])),
      found: [...found],
    };
    const writtenAt = (file) => statSync(join(this.#root, file), { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (inputs.every((file) => writtenAt(file) < this.#beganAt - CLOCK_STEP_MS)) this.#now[key] = made;
    return made;
  }

  /** Writes down this build, for the next one, by renaming: builds may run beside one another. */
  save() {
    const path = join(this.#root, RECORDS);
    mkdirSync(dirname(path), { recursive: true });
    const temporary = `${path}.${process.pid}.partial`;
    writeFileSync(temporary, JSON.stringify(this.#now));
    renameSync(temporary, path);
  }
}
