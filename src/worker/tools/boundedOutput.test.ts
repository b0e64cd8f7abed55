import fc from "fast-check";
import { expect, test } from "vitest";

import { BoundedOutput } from "./boundedOutput.js";

test("what fits is whole, and of more the beginning and the end are kept", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 40 }), { maxLength: 30 }), (pieces) => {
      const output = new BoundedOutput({ head: 50, tail: 30 });
      const whole = Buffer.from(pieces.join(""), "utf8");
      for (const piece of pieces) output.add(Buffer.from(piece, "utf8"));
      expect(output.total).toBe(whole.length);
      const lost = whole.length - 80;
      expect(output.text()).toBe(
        lost <= 0
          ? whole.toString("utf8")
          : `${whole.subarray(0, 50).toString("utf8")}\n[… ${String(lost)} bytes left out …]\n${whole.subarray(-30).toString("utf8")}`,
      );
    }),
  );
});
