import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import type { MethodDefinition } from "@grpc/grpc-js";
import { describe, expect, test } from "vitest";
import { descriptorSet } from "../../src/gen/descriptors.js";
import {
  ServerReflectionService as V1,
  type ServerReflectionRequest,
  type ServerReflectionResponse,
} from "../../src/gen/grpc/reflection/v1/reflection.js";
import { ServerReflectionService as V1Alpha } from "../../src/gen/grpc/reflection/v1alpha/reflection.js";
import { openBidi } from "../../src/rpc/clients/openBidi.js";
import { useClient, useListener } from "./useListener.js";

type Asked = NonNullable<ServerReflectionRequest["messageRequest"]>;
type Method = MethodDefinition<ServerReflectionRequest, ServerReflectionResponse>;

async function ask(
  address: string,
  method: Method,
  question: Asked,
): Promise<ServerReflectionResponse["messageResponse"]> {
  const call = openBidi(useClient(address, "unixStream"), method);
  await call.send({ host: "", messageRequest: question });
  call.end();
  for await (const { messageResponse } of call.responses) return messageResponse;
  return undefined;
}

describe.each<{ version: string; method: Method }>([
  { version: "v1", method: V1.serverReflectionInfo },
  { version: "v1alpha", method: V1Alpha.serverReflectionInfo },
])("reflection $version", ({ method }) => {
  test("lists what the listener serves and nothing else", async () => {
    const { address } = await useListener([], { reflection: descriptorSet });
    expect(await ask(address, method, { $case: "listServices", value: "" })).toEqual({
      $case: "listServicesResponse",
      value: {
        service: [
          "grpc.health.v1.Health",
          "grpc.reflection.v1.ServerReflection",
          "grpc.reflection.v1alpha.ServerReflection",
        ].map((name) => ({ name })),
      },
    });
  });

  test("answers for a symbol with its file and all that it imports", async () => {
    const { address } = await useListener([], { reflection: descriptorSet });
    for (const symbol of ["google.rpc.Status", "google.rpc.Status.details", "google.rpc.RetryInfo"]) {
      const answer = await ask(address, method, { $case: "fileContainingSymbol", value: symbol });
      if (answer?.$case !== "fileDescriptorResponse") throw new Error(`answered ${answer?.$case ?? "nothing"}`);
      const files = answer.value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes));
      const names = new Set(files.map((file) => file.name));
      expect(names.size).toBeGreaterThan(1);
      for (const file of files) for (const imported of file.dependency) expect(names).toContain(imported);
    }
  });

  test("says NOT_FOUND for what it does not know", async () => {
    const { address } = await useListener([], { reflection: descriptorSet });
    const questions: Asked[] = [
      { $case: "fileContainingSymbol", value: "no.Such" },
      { $case: "fileByFilename", value: "no/such.proto" },
      { $case: "allExtensionNumbersOfType", value: "no.Such" },
      { $case: "fileContainingExtension", value: { containingType: "no.Such", extensionNumber: 1 } },
    ];
    for (const question of questions) {
      expect(await ask(address, method, question)).toMatchObject({ $case: "errorResponse", value: { errorCode: 5 } });
    }
  });
});

test.each(["grpc-v1", "grpc-v1alpha"])("a foreign client describes and calls through %s", async (protocol) => {
  const { address } = await useListener([], { reflection: descriptorSet });
  const socket = address.slice("unix:".length);
  const common = [
    "curl",
    "--protocol",
    "grpc",
    "--http2-prior-knowledge",
    "--unix-socket",
    socket,
    "--reflect-protocol",
    protocol,
  ];
  const run = async (...words: string[]): Promise<string> => {
    const { stdout } = await promisify(execFile)("node_modules/.bin/buf", [...common, ...words]);
    return stdout;
  };
  expect(await run("--list-services", "http://localhost")).toContain("grpc.health.v1.Health");
  expect(await run("-d", "{}", "http://localhost/grpc.health.v1.Health/Check")).toContain("SERVING");
});
