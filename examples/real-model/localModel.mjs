// The model in this process: one answer at a time, constrained where tools are offered.
import { getLlama, LlamaGrammarEvaluationState } from "node-llama-cpp";
import { chatTokens } from "./chatTokens.mjs";
import { toolGrammar } from "./toolGrammar.mjs";

/** Conversations whose beginnings are kept evaluated: a prompt that begins like one of them is not read anew. */
const CONVERSATIONS = 6;

/** What the request holds does not fit. */
export class TooLong extends Error {}

/**
 * @typedef {object} Question
 * @property {readonly import("./chatTokens.mjs").Message[]} messages
 * @property {readonly import("./chatTokens.mjs").Tool[]} tools that the model is told of
 * @property {readonly import("./chatTokens.mjs").Tool[]} callable that it may call; empty for none
 * @property {boolean} mayTalk whether it may answer in words
 * @property {number} temperature 0 always takes the likeliest token
 * @property {number} topP
 * @property {number} seed
 * @property {number} maxTokens
 * @property {AbortSignal} signal
 */

/** @param {{ path: string, threads: number, contextSize: number }} options */
export async function openLocalModel({ path, threads, contextSize }) {
  const llama = await getLlama({ gpu: false, build: "never", maxThreads: threads, logLevel: "error" });
  const model = await llama.loadModel({ modelPath: path });
  const context = await model.createContext({ contextSize, threads, sequences: CONVERSATIONS });
  const sequences = Array.from({ length: CONVERSATIONS }, () => context.getSequence());
  /** @type {Promise<unknown>} */
  let last = Promise.resolve();
  /** @type {Map<string, Awaited<ReturnType<typeof llama.createGrammar>>>} */
  const grammars = new Map();

  /** @param {string} text */
  async function grammarState(text) {
    const grammar = grammars.get(text) ?? (await llama.createGrammar({ grammar: text }));
    grammars.set(text, grammar);
    return new LlamaGrammarEvaluationState({ model, grammar });
  }

  /** The conversation that the prompt goes on with, else the one that was idle longest. @param {readonly number[]} prompt */
  function sequenceFor(prompt) {
    const shared = (/** @type {{ contextTokens: readonly number[] }} */ { contextTokens }) => {
      const differs = prompt.findIndex((token, at) => contextTokens[at] !== token);
      return differs < 0 ? prompt.length : differs;
    };
    const best = sequences.reduce((found, one) => (shared(one) > shared(found) ? one : found));
    const [idle = best] = sequences;
    const chosen = shared(best) > prompt.length / 2 ? best : idle;
    sequences.push(...sequences.splice(sequences.indexOf(chosen), 1));
    return chosen;
  }

  /** @param {Question} question @param {(text: string) => void} onText */
  async function answerNow(question, onText) {
    const { messages, tools, callable, mayTalk, signal } = question;
    const prompt = chatTokens((text, special) => [...model.tokenize(text, special)], messages, tools);
    const room = contextSize - prompt.length - 1;
    if (room < 16) throw new TooLong(`${prompt.length} tokens do not fit into a context of ${contextSize}`);
    const state = callable.length === 0 ? undefined : await grammarState(toolGrammar(callable, mayTalk));
    const tokensAs = /** @type {any} */ (prompt);
    const sequence = sequenceFor(prompt);
    await sequence.adaptStateToTokens(tokensAs, false);
    // The last token is always evaluated: what follows it is the answer.
    const cached = Math.min(sequence.nextTokenIndex, prompt.length - 1);
    if (cached < sequence.nextTokenIndex) {
      await sequence.eraseContextTokenRanges([{ start: cached, end: sequence.nextTokenIndex }]);
    }
    /** @type {any[]} */
    const written = [];
    let given = 0;
    let ended = true;
    const limit = Math.min(question.maxTokens, room);
    const tokens = sequence.evaluate(tokensAs.slice(cached), {
      temperature: question.temperature,
      topP: question.topP,
      topK: 0,
      seed: question.seed,
      ...(state === undefined ? {} : { grammarEvaluationState: state }),
    });
    for await (const token of tokens) {
      signal.throwIfAborted();
      written.push(token);
      const text = model.detokenize(written);
      // A character may take several tokens.
      if (!text.endsWith("\uFFFD")) {
        onText(text.slice(given));
        given = text.length;
      }
      if (written.length >= limit) {
        ended = false;
        break;
      }
    }
    return { promptTokens: prompt.length, cachedTokens: cached, writtenTokens: written.length, ended };
  }

  return {
    /**
     * Answers after the questions before it. @param {Question} question @param {(text: string) => void} onText takes each piece
     * @returns what it took, and whether the model ended by itself
     */
    answer(question, onText) {
      const mine = last.then(() => {
        question.signal.throwIfAborted();
        return answerNow(question, onText);
      });
      last = mine.catch(() => undefined);
      return mine;
    },
  };
}
