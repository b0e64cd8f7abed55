import { strictDecode, type Decode } from "../../rpc/codec.js";
import { AttachRequest } from "../../gen/talaria/owner/v1/owner_service.js";

const decodeStrict = strictDecode((bytes: Buffer) => AttachRequest.decode(bytes));
const sizes = new WeakMap<AttachRequest, number>();

/** Decodes a worker's frame and remembers its size: the bound on what a worker may have outstanding counts bytes. */
export const decodeAttachRequest: Decode<AttachRequest> = (bytes) => {
  const request = decodeStrict(bytes);
  sizes.set(request, bytes.length);
  return request;
};

/** The size that a frame arrived with, bytes. */
export function sizeOf(request: AttachRequest): number {
  return sizes.get(request) ?? 0;
}
