import { status } from "@grpc/grpc-js";
import {
  ServerReflectionService as ReflectionV1,
  type ServerReflectionRequest,
  type ServerReflectionResponse,
} from "../gen/grpc/reflection/v1/reflection.js";
import { ServerReflectionService as ReflectionV1Alpha } from "../gen/grpc/reflection/v1alpha/reflection.js";
import { implementService, type ServiceImplementation } from "./harness/implementService.js";
import { defineBidi } from "./harness/methods.js";
import type { ReflectionIndex } from "./reflectionIndex.js";

type Answer = NonNullable<ServerReflectionResponse["messageResponse"]>;

/**
 * Server reflection, v1 and v1alpha, straight from the descriptor set that buf built. The set is read at the first question:
 * that takes longer than most of a gateway's start.
 * @param services full names of the other services of the listener; only these and reflection itself are listed
 */
export function createReflection(descriptorSet: Uint8Array, services: readonly string[]): ServiceImplementation[] {
  let index: Promise<ReflectionIndex> | undefined;
  const read = async (): Promise<ReflectionIndex> => {
    const { createReflectionIndex } = await import("./reflectionIndex.js");
    return createReflectionIndex(descriptorSet);
  };
  const names = [...services, "grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"];
  const serverReflectionInfo = defineBidi<ServerReflectionRequest, ServerReflectionResponse>({
    async handle({ requests, send }) {
      for await (const request of requests) {
        const messageResponse = answer(await (index ??= read()), names, request);
        await send({ validHost: request.host, originalRequest: request, messageResponse });
      }
    },
  });
  // The two revisions differ in their package name only.
  return [
    implementService(ReflectionV1, { serverReflectionInfo }),
    implementService(ReflectionV1Alpha, { serverReflectionInfo }),
  ];
}

function answer(index: ReflectionIndex, services: readonly string[], request: ServerReflectionRequest): Answer {
  const asked = request.messageRequest;
  switch (asked?.$case) {
    case "listServices":
      return { $case: "listServicesResponse", value: { service: services.map((name) => ({ name })) } };
    case "fileByFilename":
      return files(index.fileByName(asked.value), asked.value);
    case "fileContainingSymbol":
      return files(index.fileOfSymbol(asked.value), asked.value);
    case "fileContainingExtension": {
      const { containingType, extensionNumber } = asked.value;
      const what = `extension ${String(extensionNumber)} of ${containingType}`;
      return files(index.fileOfExtension(containingType, extensionNumber), what);
    }
    case "allExtensionNumbersOfType": {
      const extensionNumber = index.extensionNumbers(asked.value);
      if (extensionNumber === undefined) return failure(status.NOT_FOUND, `not found: ${asked.value}`);
      return { $case: "allExtensionNumbersResponse", value: { baseTypeName: asked.value, extensionNumber } };
    }
    case undefined:
      return failure(status.INVALID_ARGUMENT, "the request asks for nothing that is known here");
  }
}

function files(found: Buffer[] | undefined, what: string): Answer {
  if (found === undefined) return failure(status.NOT_FOUND, `not found: ${what}`);
  return { $case: "fileDescriptorResponse", value: { fileDescriptorProto: found } };
}

function failure(errorCode: number, errorMessage: string): Answer {
  return { $case: "errorResponse", value: { errorCode, errorMessage } };
}
