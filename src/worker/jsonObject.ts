import { isRecord } from "./isRecord.js";

/** The object that a JSON text holds; an empty text holds one without fields. Undefined for any other text. Pure. */
export function jsonObject(text: string): Readonly<Record<string, unknown>> | undefined {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
