import { build } from "../scripts/build.mjs";

/** Builds `dist` once, so that tests that start processes run the code they were written against. */
export async function setup(): Promise<void> {
  await build();
}
