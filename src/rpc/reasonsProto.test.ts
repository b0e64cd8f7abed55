import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { REASONS_PAGE_PATH, REASONS_PROTO_PATH, renderReasonsPage, renderReasonsProto } from "./reasonsProto.js";

const root = join(import.meta.dirname, "../..");

test("the protobuf enum and the page are those of the registry", () => {
  expect(readFileSync(join(root, REASONS_PROTO_PATH), "utf8")).toBe(renderReasonsProto());
  expect(readFileSync(join(root, REASONS_PAGE_PATH), "utf8")).toBe(renderReasonsPage());
});
