import { fileURLToPath } from "node:url";

const at = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** Places in the checkout that the tests of outside clients use, as absolute paths. */
export const paths = {
  root: at(""),
  proto: at("proto"),
  command: at("dist/cli/main.js"),
  cookbook: at("docs/grpcurl.md"),
  grpcurl: at(".tools/bin/grpcurl"),
  python: at(".tools/venv/bin/python"),
  acpAgent: at(".tools/acp/node_modules/.bin/qwen"),
  buf: at("node_modules/.bin/buf"),
  binaries: at("node_modules/.bin"),
  examples: at("examples/clients/python"),
  clients: at("examples/clients"),
  protocGenGo: at(".tools/bin/protoc-gen-go"),
  tools: at(".tools/bin"),
  scenarios: at("test/interop/python"),
} as const;
