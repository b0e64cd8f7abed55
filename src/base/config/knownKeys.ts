import { z } from "zod";

/** The keys that `schema` knows at `path`, through optional, default, transformed, record and list schemas. */
export function knownKeys(schema: z.ZodType, path: readonly PropertyKey[]): readonly string[] {
  let at = unwrap(schema);
  for (const step of path) {
    if (at instanceof z.ZodObject) at = unwrap(at.shape[String(step)] as z.ZodType | undefined);
    else if (at instanceof z.ZodRecord) at = unwrap(at.valueType as z.ZodType);
    else if (at instanceof z.ZodArray) at = unwrap(at.element as z.ZodType);
    else return [];
  }
  return at instanceof z.ZodObject ? Object.keys(at.shape) : [];
}

function unwrap(schema: z.ZodType | undefined): z.ZodType | undefined {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) {
    return unwrap(schema.unwrap() as z.ZodType);
  }
  return schema instanceof z.ZodPipe ? unwrap(schema.in as z.ZodType) : schema;
}
