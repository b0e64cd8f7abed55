import fc from "fast-check";
import { expect, test } from "vitest";

import { pinOf } from "./tls/pin.js";
import { formatInvite, parseInvite } from "./inviteCode.js";

const invite = { address: "gateway.example:7421", pin: pinOf(Buffer.from("key")), secret: Buffer.alloc(16, 7) };
const code = formatInvite(invite);

test("an invite's code carries address, pin and secret, also when a mail has wrapped it", () => {
  expect(code).toMatch(/^tal1\.[A-Za-z0-9_-]+$/);
  const read = { kind: "invite", invite: { ...invite, secret: Uint8Array.from(invite.secret) } };
  expect(parseInvite(code)).toEqual(read);
  expect(parseInvite(` ${code.slice(0, 30)}\n  ${code.slice(30)}\n`)).toEqual(read);
});

test("a code with any one character changed, lost or added is not taken", () => {
  fc.assert(
    fc.property(fc.nat(code.length - 1), fc.constantFrom(..."ABCxyz019_-".split("")), (at, other) => {
      fc.pre(code[at] !== other);
      const texts = [
        code.slice(0, at) + other + code.slice(at + 1),
        code.slice(0, at) + code.slice(at + 1),
        code.slice(0, at) + other + code.slice(at),
      ].filter((text) => text !== code);
      for (const text of texts) expect(parseInvite(text).kind).not.toBe("invite");
    }),
  );
  expect(parseInvite(code.slice(0, -1))).toEqual({ kind: "mistyped" });
});

test("a code of a later version, and what is no code, are told apart from a mistyped one", () => {
  expect(parseInvite(code.replace("tal1.", "tal2."))).toEqual({ kind: "version" });
  expect(parseInvite("sha256:abc")).toEqual({ kind: "none" });
  expect(parseInvite("")).toEqual({ kind: "none" });
});
