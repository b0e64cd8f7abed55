import type { UploadAttachmentRequest, UploadAttachmentResponse } from "../../gen/talaria/gateway/v1/turn_service.js";
import { LIMITS } from "../../base/limits.js";
import type { AttachmentFiles } from "../../owner/attachments/attachmentFiles.js";
import { toAttachment } from "../../owner/attachments/toAttachment.js";
import { checkRequest } from "../../rpc/harness/requestSchema.js";
import { invalidField, RpcError } from "../../rpc/rpcError.js";
import { headerStepSchema } from "./turnSchemas.js";

const CHUNK_BYTES = 1_048_576;

/**
 * Takes a file in, chunk by chunk; a repeated request is answered without its content.
 * @param problem says why no file is taken now, before any of its bytes is written
 * @throws RpcError what `problem` says, INVALID_FIELD, ATTACHMENT_TOO_LARGE, REQUEST_CONFLICT, and those of {@link AttachmentFiles.put}.
 */
export async function uploadAttachment(
  files: AttachmentFiles,
  principal: string,
  requests: AsyncIterable<UploadAttachmentRequest>,
  problem: () => RpcError | undefined,
): Promise<UploadAttachmentResponse> {
  const steps = requests[Symbol.asyncIterator]();
  const first = await steps.next();
  const step = first.done === true ? undefined : first.value.step;
  if (step?.$case !== "header") throw invalidField("step", "begins with a header");
  if (step.value.sizeBytes > BigInt(LIMITS.attachmentBytes)) throw new RpcError("ATTACHMENT_TOO_LARGE");
  const upload = { principal, ...checkRequest(headerStepSchema, { step }).step.value };
  const earlier = files.earlier(upload);
  const refusal = earlier === undefined ? problem() : undefined;
  if (refusal !== undefined) throw refusal;
  return { attachment: toAttachment(earlier ?? (await files.put(upload, chunksOf(steps)))) };
}

async function* chunksOf(steps: AsyncIterator<UploadAttachmentRequest>): AsyncGenerator<Uint8Array> {
  for (let next = await steps.next(); next.done !== true; next = await steps.next()) {
    const { step } = next.value;
    if (step?.$case !== "chunk" || step.value.length === 0 || step.value.length > CHUNK_BYTES) {
      throw invalidField("step", "is a chunk of 1 to 1,048,576 bytes after the header");
    }
    yield step.value;
  }
}
