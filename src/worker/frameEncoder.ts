import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { AttachRequest } from "../gen/talaria/owner/v1/owner_service.js";

/**
 * Makes an encoder of worker frames that reuses one writer: growing a fresh one costs more than the encoding itself. The bytes
 * it returns are the caller's.
 */
export function createFrameEncoder(): (frame: AttachRequest) => Uint8Array {
  let writer = new BinaryWriter();
  return (frame) => {
    try {
      return AttachRequest.encode(frame, writer).finish();
    } catch (error) {
      // What was written so far must not lead the next frame.
      writer = new BinaryWriter();
      throw error;
    }
  };
}
