/** Methods of a bench process: plain data in, plain data out. */
export type Methods = Readonly<Record<string, (input: never) => unknown>>;

/** What a method is given. */
export type InputOf<Method> = Method extends (input: infer Input) => unknown ? Input : never;

/** What a method answers. */
export type OutputOf<Method> = Method extends (input: never) => infer Output ? Awaited<Output> : never;

interface CallMessage {
  readonly id: number;
  readonly method: string;
  readonly input: unknown;
}

/** The answer to one call. */
export type AnswerMessage =
  | { readonly id: number; readonly kind: "done"; readonly output: unknown }
  | { readonly id: number; readonly kind: "failed"; readonly message: string };

/** Answers the parent's calls until it disconnects; then the process ends. */
export function answerCalls(methods: Methods): void {
  const table = methods as Readonly<Record<string, ((input: unknown) => unknown) | undefined>>;
  process.on("message", (message: CallMessage) => {
    void answer(table[message.method], message).then((reply) => process.send?.(reply));
  });
  process.once("disconnect", () => {
    process.exit(0);
  });
}

async function answer(
  method: ((input: unknown) => unknown) | undefined,
  { id, method: name, input }: CallMessage,
): Promise<AnswerMessage> {
  try {
    if (method === undefined) throw new Error(`there is no method ${name}`);
    return { id, kind: "done", output: await method(input) };
  } catch (error) {
    return { id, kind: "failed", message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}
