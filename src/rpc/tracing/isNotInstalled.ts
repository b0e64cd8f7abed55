/** What Node says of a package that is not there: to `import` and to `require`. */
const CODES: readonly string[] = ["ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND"];

/** Whether a failed `import()` has failed because a package is not installed. */
export function isNotInstalled(error: unknown): boolean {
  return CODES.includes((error as NodeJS.ErrnoException | undefined)?.code ?? "");
}
