import { z } from "zod";

/** The keys that `schema` knows at `path`, through optional, default, transformed, record and list schemas. */
export function knownKeys(schema: z.ZodType, path: readonly PropertyKey[]): readonly string[] {
  let at = unwrapSchema(schema);
  for (const step of path) {
    if (at instanceof z.ZodObject) at = unwrapSchema(at.shape[String(step)] as z.ZodType | undefined);
    else if (at instanceof z.ZodRecord) at = unwrapSchema(at.valueType as z.ZodType);
    else if (at instanceof z.ZodArray) at = unwrapSchema(at.element as z.ZodType);
    else return [];
  }
  return at instanceof z.ZodObject ? Object.keys(at.shape) : [];
}

/** A schema without what is wrapped around it: optional, default, and what prepares a value first. */
export function unwrapSchema(schema: z.ZodType | undefined): z.ZodType | undefined {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) {
    return unwrapSchema(schema.unwrap() as z.ZodType);
  }
  if (!(schema instanceof z.ZodPipe)) return schema;
  // What is prepared first is described by the schema that it is prepared for.
  return unwrapSchema((schema.in instanceof z.ZodTransform ? schema.out : schema.in) as z.ZodType);
}
