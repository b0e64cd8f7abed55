/** See `builtBefore.mjs`. */
export interface Made {
  readonly inputs: Readonly<Record<string, string>>;
  readonly outputs: Readonly<Record<string, string>>;
  readonly found: readonly string[];
}

export declare class BuiltBefore {
  constructor(root: string, trusted: boolean);
  key(settings: unknown): string;
  find(key: string): Made | undefined;
  add(key: string, inputs: readonly string[], outputs: ReadonlyMap<string, Uint8Array>, found: Iterable<string>): Made;
  save(): void;
}
