import { keepCode } from "./commandsScript.js";
import { runCli } from "./runCli.js";

void runCli(process.argv.slice(2), { keepCode }).then((code) => {
  process.exitCode = code;
});
