import type { ReadableSpan, SpanExporter } from "@opentelemetry/sdk-trace";

import type { SpanCounts } from "./spanCounts.js";

/** What an exporter answers. Source: OpenTelemetry's ExportResult. */
type ExportResult = Parameters<Parameters<SpanExporter["export"]>[1]>[0];

/** OpenTelemetry's ExportResultCode.SUCCESS. */
const SUCCESS = 0;

/** Counts what an exporter does, and how much is on its way to it. */
export class CountedExporter implements SpanExporter {
  readonly #inner: SpanExporter;
  readonly #onFailure: (error: Error | undefined) => void;
  #taken = 0;
  #exported = 0;
  #failed = 0;
  #dropped = 0;
  #failing = false;

  /** @param onFailure told of each batch that was not taken */
  constructor(inner: SpanExporter, onFailure: (error: Error | undefined) => void) {
    this.#inner = inner;
    this.#onFailure = onFailure;
  }

  /** See {@link SpanCounts}. */
  get counts(): SpanCounts {
    return { exported: this.#exported, failed: this.#failed, dropped: this.#dropped };
  }

  /** Whether the last batch was not taken. */
  get failing(): boolean {
    return this.#failing;
  }

  /** Says that a span comes. @returns false where so many wait that it shall not, and is counted as dropped. */
  admit(most: number): boolean {
    if (this.#taken - this.#exported - this.#failed >= most) {
      this.#dropped += 1;
      return false;
    }
    this.#taken += 1;
    return true;
  }

  /** Says that what still waits is let go of. */
  abandon(): void {
    const waiting = this.#taken - this.#exported - this.#failed;
    this.#taken -= waiting;
    this.#dropped += waiting;
  }

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    this.#inner.export(spans, (result) => {
      const code: number = result.code;
      this.#failing = code !== SUCCESS;
      if (this.#failing) {
        this.#failed += spans.length;
        this.#onFailure(result.error);
      } else this.#exported += spans.length;
      done(result);
    });
  }

  shutdown(): Promise<void> {
    return this.#inner.shutdown();
  }
}
