import { defineConfig } from "eslint/config";
import tseslint from "typescript-eslint";
import { importTable } from "./scripts/lint/importTable.mjs";

const tests = ["src/**/*.test.ts", "src/**/testing/**", "src/**/*.testing.ts", "test/**", "bench/**", "examples/**"];

const clock = "is not injected: take the clock, timers and random source of src/base.";
const noDefaultExport = [
  { selector: "ExportDefaultDeclaration", message: "Export by name." },
  { selector: "ExportSpecifier[exported.name='default']", message: "Export by name." },
];
const noNakedDate = [
  {
    selector: "NewExpression[callee.name='Date'][arguments.length=0]",
    message: `new Date() ${clock}`,
  },
];

/** What a handler is written in; only the harness in src/rpc may name these. */
const rawHandlers = {
  name: "@grpc/grpc-js",
  importNames: [
    "Server",
    "ServerUnaryCall",
    "ServerReadableStream",
    "ServerWritableStream",
    "ServerDuplexStream",
    "sendUnaryData",
    "handleUnaryCall",
    "handleClientStreamingCall",
    "handleServerStreamingCall",
    "handleBidiStreamingCall",
  ],
  message: "Servers and handlers go through the harness in src/rpc.",
};
const sql = { name: "@photostructure/sqlite", message: "Only src/store speaks SQL." };
const timers = ["timers", "node:timers", "timers/promises", "node:timers/promises"].map((name) => ({
  name,
  message: `${name} ${clock}`,
}));

export default defineConfig(
  { ignores: ["src/gen/**", "dist/**", "coverage/**", ".tools/**", "bench/results/**"] },
  { linterOptions: { reportUnusedDisableDirectives: "error" } },

  {
    files: ["**/*.{ts,mjs,mts}"],
    rules: {
      "max-lines": ["error", { max: 400, skipBlankLines: false, skipComments: false }],
      eqeqeq: "error",
      "no-restricted-syntax": ["error", ...noDefaultExport],
    },
  },

  {
    files: ["src/**/*.ts", "test/**/*.ts", "bench/**/*.ts", "examples/**/*.ts"],
    extends: [tseslint.configs.strictTypeChecked],
    plugins: { talaria: { rules: { "import-table": importTable } } },
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      "talaria/import-table": "error",
      "@typescript-eslint/no-floating-promises": "error",
      "@typescript-eslint/no-misused-promises": ["error", { checksConditionals: true, checksVoidReturn: true }],
      "@typescript-eslint/await-thenable": "error",
      "@typescript-eslint/return-await": ["error", "in-try-catch"],
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/no-import-type-side-effects": "error",
      // A default may stand for the rest of a union: it is where the exhaustive `never` check lives.
      "@typescript-eslint/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
      "@typescript-eslint/no-unused-vars": [
        "error",
        { argsIgnorePattern: "^_", varsIgnorePattern: "^_", caughtErrorsIgnorePattern: "^_" },
      ],
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true, allowBoolean: true }],
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      "@typescript-eslint/no-unnecessary-condition": [
        "error",
        { allowConstantLoopConditions: "only-allowed-literals" },
      ],
      // An async function without await still turns a throw into a rejection, which interfaces rely on.
      "@typescript-eslint/require-await": "off",
      // `T | void` is how a callback says that its answer is optional.
      "@typescript-eslint/no-invalid-void-type": "off",
      // A type parameter used once is how a typed client method names its answer.
      "@typescript-eslint/no-unnecessary-type-parameters": "off",
    },
  },

  {
    files: ["src/**/*.ts"],
    rules: {
      "no-console": "error",
      "no-restricted-globals": [
        "error",
        { name: "setTimeout", message: `setTimeout ${clock}` },
        { name: "setInterval", message: `setInterval ${clock}` },
      ],
      "no-restricted-properties": [
        "error",
        { object: "Date", property: "now", message: `Date.now ${clock}` },
        { object: "Math", property: "random", message: `Math.random ${clock}` },
        { object: "globalThis", property: "setTimeout", message: `setTimeout ${clock}` },
        { object: "globalThis", property: "setInterval", message: `setInterval ${clock}` },
      ],
      "no-restricted-syntax": ["error", ...noDefaultExport, ...noNakedDate],
      "no-restricted-imports": ["error", { paths: [...timers, rawHandlers, sql] }],
    },
  },
  { files: ["src/rpc/**"], rules: { "no-restricted-imports": ["error", { paths: [...timers, sql] }] } },
  { files: ["src/store/**"], rules: { "no-restricted-imports": ["error", { paths: [...timers, rawHandlers] }] } },

  {
    // base holds the clock itself; the command and the tests are the outermost edge.
    files: ["src/base/**", "src/cli/**", ...tests],
    rules: {
      "no-restricted-globals": "off",
      "no-restricted-properties": "off",
      "no-restricted-syntax": ["error", ...noDefaultExport],
    },
  },
  {
    files: ["src/base/**", "src/cli/**"],
    rules: { "no-restricted-imports": ["error", { paths: [rawHandlers, sql] }] },
  },
  { files: ["src/cli/**", ...tests], rules: { "no-console": "off" } },

  {
    files: tests,
    rules: {
      "no-restricted-imports": "off",
      "@typescript-eslint/no-non-null-assertion": "off",
      "@typescript-eslint/no-unsafe-argument": "off",
      "@typescript-eslint/no-unsafe-assignment": "off",
      "@typescript-eslint/no-unsafe-call": "off",
      "@typescript-eslint/no-unsafe-member-access": "off",
      "@typescript-eslint/no-unsafe-return": "off",
      "@typescript-eslint/unbound-method": "off",
    },
  },

  { files: ["**/*.d.mts"], extends: [tseslint.configs.base] },
  {
    files: ["vitest.config.ts"],
    extends: [tseslint.configs.strict],
  },
  { files: ["*.config.{ts,mjs}"], rules: { "no-restricted-syntax": "off" } },
);
