/** Reads the documents that grpcurl and `buf curl` print one after another, each starting at the margin. */
export function jsonDocuments(text: string): readonly unknown[] {
  return text
    .split(/\n(?=\{)/)
    .filter((document) => document.trim() !== "")
    .map((document) => JSON.parse(document) as unknown);
}
