import { logVerbosity, setLogger, setLogVerbosity } from "@grpc/grpc-js";
import type { Logger } from "../base/logger.js";

let routed = false;

/** Sends what grpc-js itself logs to our log, once per process; it would print to standard error otherwise. */
export function routeLibraryLog(log: Logger): void {
  if (routed) return;
  routed = true;
  const library = log.child({ component: "grpc-js" });
  setLogger({
    error: (...words: unknown[]) => {
      library.warn(words.map(String).join(" "));
    },
    info: (...words: unknown[]) => {
      library.info(words.map(String).join(" "));
    },
    debug: (...words: unknown[]) => {
      library.debug(words.map(String).join(" "));
    },
  });
  setLogVerbosity(logVerbosity.ERROR);
}
