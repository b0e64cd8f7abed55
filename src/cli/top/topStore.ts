import { EMPTY_SCREEN, stepTop, type Key, type TopAction, type TopEvent, type TopState } from "./topState.js";

/** Keeps the screen's state for whoever draws it. */
export interface TopStore {
  /** Calls `onChange` after each change. @returns a function that stops that. */
  readonly subscribe: (onChange: () => void) => () => void;
  readonly state: () => TopState;
  /** Takes an event. */
  readonly take: (event: TopEvent) => void;
  /** Takes a key. */
  readonly key: (key: Key) => void;
}

/** Makes a store. @param act does what a key asks for */
export function createTopStore(act: (action: TopAction) => void): TopStore {
  const listeners = new Set<() => void>();
  let state: TopState = EMPTY_SCREEN;
  const take = (event: TopEvent): void => {
    const next = stepTop(state, event);
    if (next.state !== state) {
      state = next.state;
      for (const listener of listeners) listener();
    }
    if (next.action !== undefined) act(next.action);
  };
  return {
    subscribe(onChange) {
      listeners.add(onChange);
      return () => void listeners.delete(onChange);
    },
    state: () => state,
    take,
    key: (key) => {
      take({ kind: "key", key });
    },
  };
}
