import { expect, test } from "vitest";

import { scrubbedEnvironment } from "./scrubbedEnvironment.js";

test("DM027 DM028 nothing that is set for the gateway or names a session or author is passed on", () => {
  const own = {
    PATH: "/bin",
    LC_ALL: "C",
    TALARIA_HOME: "/h",
    TALARIA_SESSION: "ses_1",
    TALARIA_AUTHOR: "agent:bob",
    OPENAI_API_KEY: "k",
    TERM: undefined,
  };
  expect(scrubbedEnvironment(own)).toEqual({ PATH: "/bin", LC_ALL: "C" });
});
