import { fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { descriptorSet } from "../gen/descriptors.js";
import { createReflectionIndex } from "./reflectionIndex.js";

const index = createReflectionIndex(descriptorSet);

test("every file of the contract is found, with imports that are complete", () => {
  const all = fromBinary(FileDescriptorSetSchema, descriptorSet).file;
  for (const { name } of all) {
    const files = (index.fileByName(name) ?? []).map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes));
    const names = new Set(files.map((file) => file.name));
    expect(files[0]?.name).toBe(name);
    for (const file of files) for (const imported of file.dependency) expect(names).toContain(imported);
  }
});

test("every service, method, message, nested message and enum value is found in its file", () => {
  for (const [symbol, file] of [
    ["google.rpc.BadRequest.FieldViolation", "google/rpc/error_details.proto"],
    ["google.rpc.Code", "google/rpc/code.proto"],
    ["google.rpc.NOT_FOUND", "google/rpc/code.proto"],
    ["grpc.health.v1.Health.Check", "grpc/health/v1/health.proto"],
    ["grpc.health.v1.HealthCheckResponse.status", "grpc/health/v1/health.proto"],
    ["grpc.health.v1.HealthCheckResponse.SERVING", "grpc/health/v1/health.proto"],
  ] as const) {
    const [first] = index.fileOfSymbol(symbol) ?? [];
    if (first === undefined) throw new Error(`${symbol} was not found`);
    expect(fromBinary(FileDescriptorProtoSchema, first).name).toBe(file);
  }
});
