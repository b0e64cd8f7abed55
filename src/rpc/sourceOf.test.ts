import { expect, test } from "vitest";

import { sourceOf } from "./sourceOf.js";

test.each([
  ["192.0.2.7:4711", "192.0.2.7"],
  ["::ffff:192.0.2.7:4711", "::ffff:192.0.2.7"],
  ["2001:db8:1:2:3:4:5:6:4711", "2001:db8:1:2"],
  ["2001:db8:1:2::6:4711", "2001:db8:1:2"],
  ["2001:db8::3:4:5:6:4711", "2001:db8:0:0"],
  ["2001::2:3:4:5:6:4711", "2001:0:0:2"],
  ["::1:4711", "0:0:0:0"],
])("%s counts as %s", (remote, source) => {
  expect(sourceOf({ remote })).toBe(source);
});
