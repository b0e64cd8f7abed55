import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  REASONS_PAGE_PATH,
  REASONS_PROTO_PATH,
  renderReasonsPage,
  renderReasonsProto,
} from "../src/rpc/reasonsProto.js";

// Run from anywhere: node --import tsx scripts/generateReasons.ts
const root = join(import.meta.dirname, "..");

for (const [path, text] of [
  [REASONS_PROTO_PATH, renderReasonsProto()],
  [REASONS_PAGE_PATH, renderReasonsPage()],
]) {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}
