import { render } from "ink";
import { createElement } from "react";

import { TopScreen } from "./topScreen.js";
import type { TopStore } from "./topStore.js";

/** A screen that is shown. */
export interface ShownScreen {
  /** Takes it away. */
  unmount(): void;
}

/**
 * Shows the screen of a store on this process's terminal. Built as a file of its own, because ink is an ES module and the command is
 * none: nothing that has an identity, such as the class of an error, may pass in or out of it.
 */
export async function showScreen(store: TopStore): Promise<ShownScreen> {
  return render(createElement(TopScreen, { store }), { exitOnCtrlC: false, patchConsole: false });
}
