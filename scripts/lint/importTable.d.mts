import type { Rule } from "eslint";

export declare const table: Readonly<Record<string, readonly string[]>>;
export declare const exceptions: readonly { readonly files: RegExp; readonly room: string }[];
export declare function refusal(from: string, specifier: string): string | undefined;
export declare function misplaced(file: string): string | undefined;
export declare const importTable: Rule.RuleModule;
