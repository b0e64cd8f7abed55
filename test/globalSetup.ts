import { build } from "../scripts/build.mjs";

/**
 * Builds `dist` once, so that tests that start processes run the code they were written against. Who has built it says so by
 * `TALARIA_BUILT=1`.
 */
export async function setup(): Promise<void> {
  if (process.env["TALARIA_BUILT"] !== "1") await build();
}
