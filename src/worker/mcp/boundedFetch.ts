import { MCP_BOUNDS } from "./mcpBounds.js";

/** Fetches as `fetch` does; an answer with more bytes than a server may send in answer to one request breaks off. */
export async function boundedFetch(url: string | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  if (response.body === null) return response;
  let left: number = MCP_BOUNDS.answerBytes;
  const counted = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        left -= chunk.byteLength;
        if (left < 0) controller.error(new Error("the answer is larger than 32 MiB"));
        else controller.enqueue(chunk);
      },
    }),
  );
  const { status, statusText, headers } = response;
  return new Response(counted, { status, statusText, headers });
}
