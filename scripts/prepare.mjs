// Runs after `npm ci`: generates code and builds. Without the development tools there is nothing to do it with.
import { build } from "./build.mjs";
import { generate } from "./generate.mjs";

try {
  const generated = await generate();
  if (generated === "no tools") {
    console.log("prepare: development tools are not installed, so nothing is generated or built");
  } else {
    const built = await build({ clean: true });
    const count = built === "no tools" ? 0 : built.built.length;
    console.log(`prepare: code ${generated}, ${count} entries built`);
  }
} catch (error) {
  console.error(`prepare: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
