/** See `breakages.mjs`. */
export interface Breakage {
  readonly name: string;
  readonly rule: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  readonly test: string;
  readonly title: string;
  readonly bundled?: boolean;
}

export const breakages: readonly Breakage[];
