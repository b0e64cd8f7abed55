import type { AnswerPromptRequest } from "../../gen/talaria/gateway/v1/turn_service.js";
import { assertNever } from "../../base/assertNever.js";
import { answerDialog, stepDialog, type AnswerDialog } from "./answerDialog.js";
import type { Snapshot } from "./snapshot.js";
import { rowsOf, VIEWS, type View } from "./views.js";

/** What the screen shows. */
export interface TopState {
  readonly view: View;
  /** The row that keys act on, by its id, for each view. */
  readonly selected: Readonly<Partial<Record<View, string>>>;
  readonly snapshot: Snapshot | undefined;
  /** The snapshot before, for rates. */
  readonly before: Snapshot | undefined;
  /** Why the gateway cannot be read; undefined while it can. */
  readonly trouble: string | undefined;
  /** An answer that is being given. */
  readonly dialog: AnswerDialog | undefined;
  /** How the last action ended; empty before the first. */
  readonly notice: string;
}

/** A key as the terminal gives it. */
export interface Key {
  /** The character; empty for a named key. */
  readonly text: string;
  readonly name?:
    "up" | "down" | "left" | "right" | "tab" | "return" | "escape" | "backspace" | "interrupt" | undefined;
}

/** Something that happens to the screen. */
export type TopEvent =
  | { readonly kind: "snapshot"; readonly snapshot: Snapshot }
  | { readonly kind: "unreachable"; readonly message: string }
  | { readonly kind: "key"; readonly key: Key }
  | { readonly kind: "notice"; readonly text: string };

/** What a key asks of the gateway. */
export type TopAction =
  | { readonly kind: "answer"; readonly promptId: string; readonly answer: NonNullable<AnswerPromptRequest["answer"]> }
  | { readonly kind: "stop"; readonly executionId: string }
  | { readonly kind: "cancel"; readonly deliveryId: string }
  | { readonly kind: "redrive"; readonly deliveryId: string }
  | { readonly kind: "hold"; readonly destination: string }
  | { readonly kind: "release"; readonly destination: string }
  | { readonly kind: "acknowledge"; readonly sessionId: string; readonly executionId: string }
  | { readonly kind: "quit" };

/** The next state, and what is to be done about it. */
export interface TopStep {
  readonly state: TopState;
  readonly action?: TopAction;
}

/** The screen before anything was read. */
export const EMPTY_SCREEN: TopState = {
  view: "workers",
  selected: {},
  snapshot: undefined,
  before: undefined,
  trouble: undefined,
  dialog: undefined,
  notice: "",
};

/** Takes an event. Whatever was read stays on the screen while the gateway cannot be reached. */
export function stepTop(state: TopState, event: TopEvent): TopStep {
  switch (event.kind) {
    case "snapshot":
      return { state: afterSnapshot(state, event.snapshot) };
    case "unreachable":
      return { state: { ...state, trouble: event.message } };
    case "notice":
      return { state: { ...state, notice: event.text } };
    case "key":
      return takeKey(state, event.key);
    default:
      return assertNever(event);
  }
}

/** The selected row's position in its view; the first where its row is gone; undefined in an empty view. */
export function selectedPosition(state: TopState): number | undefined {
  const rows = state.snapshot === undefined ? [] : rowsOf(state.view, state.snapshot, undefined);
  if (rows.length === 0) return undefined;
  const position = rows.findIndex(({ id }) => id === state.selected[state.view]);
  return Math.max(0, position);
}

function afterSnapshot(state: TopState, snapshot: Snapshot): TopState {
  const next = { ...state, snapshot, before: state.snapshot, trouble: undefined };
  const open = snapshot.prompts.some(({ promptId }) => promptId === state.dialog?.promptId);
  if (state.dialog === undefined || open) return next;
  return { ...next, dialog: undefined, notice: "The prompt has ended." };
}

function takeKey(state: TopState, key: Key): TopStep {
  if (key.name === "interrupt") return { state, action: { kind: "quit" } };
  if (state.dialog !== undefined) {
    const { dialog, answer } = stepDialog(state.dialog, key);
    const next = { ...state, dialog };
    if (answer === undefined) return { state: next };
    return { state: next, action: { kind: "answer", promptId: state.dialog.promptId, answer } };
  }
  const number = VIEWS[Number(key.text) - 1];
  if (number !== undefined) return { state: { ...state, view: number } };
  switch (key.name) {
    case "tab":
    case "right":
      return { state: turnView(state, 1) };
    case "left":
      return { state: turnView(state, -1) };
    case "up":
      return { state: moveSelection(state, -1) };
    case "down":
      return { state: moveSelection(state, 1) };
    default:
      return takeLetter(state, key);
  }
}

function takeLetter(state: TopState, { text, name }: Key): TopStep {
  if (text === "q") return { state, action: { kind: "quit" } };
  if (text === "k") return { state: moveSelection(state, -1) };
  if (text === "j") return { state: moveSelection(state, 1) };
  const { view, snapshot } = state;
  const position = selectedPosition(state);
  if (snapshot === undefined || position === undefined) return { state };
  const wanted = name === "return" ? "a" : text;
  switch (view) {
    case "workers": {
      const executionId = snapshot.workers[position]?.executionId ?? "";
      return wanted === "s" && executionId !== "" ? { state, action: { kind: "stop", executionId } } : { state };
    }
    case "sessions": {
      const session = snapshot.sessions[position];
      if (session === undefined) return { state };
      const { sessionId, runningExecutionId, pausedBehindExecutionId } = session;
      if (wanted === "s" && runningExecutionId !== "") {
        return { state, action: { kind: "stop", executionId: runningExecutionId } };
      }
      if (wanted !== "a" || pausedBehindExecutionId === "") return { state };
      return { state, action: { kind: "acknowledge", sessionId, executionId: pausedBehindExecutionId } };
    }
    case "prompts": {
      const prompt = snapshot.prompts[position];
      return { state: wanted === "a" && prompt !== undefined ? { ...state, dialog: answerDialog(prompt) } : state };
    }
    case "deliveries": {
      const deliveryId = snapshot.deliveries[position]?.deliveryId ?? "";
      if (wanted === "c") return { state, action: { kind: "cancel", deliveryId } };
      return wanted === "r" ? { state, action: { kind: "redrive", deliveryId } } : { state };
    }
    case "destinations": {
      const destination = snapshot.destinations[position];
      if (wanted !== "h" || destination === undefined) return { state };
      const kind = destination.heldBy === "" ? "hold" : "release";
      return { state, action: { kind, destination: destination.name } };
    }
  }
}

function turnView(state: TopState, by: number): TopState {
  const position = (VIEWS.indexOf(state.view) + by + VIEWS.length) % VIEWS.length;
  return { ...state, view: VIEWS[position] ?? state.view };
}

function moveSelection(state: TopState, by: number): TopState {
  const from = selectedPosition(state);
  if (from === undefined || state.snapshot === undefined) return state;
  const rows = rowsOf(state.view, state.snapshot, undefined);
  const to = rows[Math.min(rows.length - 1, Math.max(0, from + by))];
  return to === undefined ? state : { ...state, selected: { ...state.selected, [state.view]: to.id } };
}
