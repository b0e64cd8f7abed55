import { z } from "zod";

import { unwrapSchema } from "../config/knownKeys.js";

/** A key of a configuration file. */
export interface KeyPath {
  /** Path with dots; `<name>` stands for a name of the writer's own, `[]` for each entry of a list. */
  readonly path: string;
  /** What counts where the key is left out, as JSON; undefined for nothing. */
  readonly fallback: string | undefined;
}

/** Every key that a schema knows and that holds no further keys, in the order of the schema. Lists of entries that may be a text too are followed. */
export function keyPaths(schema: z.ZodType, path = ""): readonly KeyPath[] {
  const inner = unwrapSchema(schema);
  if (inner instanceof z.ZodObject) {
    return Object.entries(inner.shape as Record<string, z.ZodType>).flatMap(([key, value]) => {
      const at = path === "" ? key : `${path}.${key}`;
      const below = keyPaths(value, at);
      return below.length > 0 ? below : [{ path: at, fallback: defaultOf(value) }];
    });
  }
  if (inner instanceof z.ZodRecord) return keyPaths(inner.valueType as z.ZodType, `${path}.<name>`);
  return inner instanceof z.ZodArray ? keyPaths(inner.element as z.ZodType, `${path}[]`) : [];
}

function defaultOf(schema: z.ZodType): string | undefined {
  if (schema instanceof z.ZodOptional) return undefined;
  return schema instanceof z.ZodDefault ? JSON.stringify(schema.def.defaultValue) : undefined;
}
