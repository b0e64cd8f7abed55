import { expect, test } from "vitest";

import { isSilence } from "./silenceMarker.js";

test.each(["", "  \n", "SILENT", "[SILENT]", "silent.", "NO_REPLY", "no reply", "**No Reply**", "【静默】", "沉默"])(
  "DM050 %j says nothing",
  (answer) => {
    expect(isSilence(answer)).toBe(true);
  },
);

test.each(["I will stay SILENT", "no replying", "SILENT SILENT", "ok", "👍", `NO_REPLY${".".repeat(60)}`])(
  "DM050 %j is an answer",
  (answer) => {
    expect(isSilence(answer)).toBe(false);
  },
);
