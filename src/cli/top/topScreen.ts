import { Box, Text, useInput, useStdout } from "ink";
import { createElement as h, useSyncExternalStore, type ReactElement } from "react";

import { fromDuration } from "../../rpc/wire/times.js";
import { visible } from "../render/visible.js";
import type { AnswerDialog } from "./answerDialog.js";
import { layout } from "./layout.js";
import type { TopStore } from "./topStore.js";
import { selectedPosition, type Key, type TopState } from "./topState.js";
import { COLUMNS, rowsOf, VIEWS, type View } from "./views.js";

/** Lines that are no rows of the table: two of the gateway, tabs, head, notice and keys. */
const OTHER_LINES = 7;

const KEYS: Readonly<Record<View, string>> = {
  workers: "s stop",
  sessions: "s stop  a acknowledge unknown",
  prompts: "a answer",
  deliveries: "c cancel  r redrive",
  destinations: "h hold/release",
};

/** The whole screen. */
export function TopScreen({ store }: { readonly store: TopStore }): ReactElement {
  const state = useSyncExternalStore(store.subscribe, store.state);
  const { stdout } = useStdout();
  useInput((input, key) => {
    store.key(keyOf(input, key));
  });
  const width = Math.max(20, stdout.columns || 80);
  const lines = Math.max(3, (stdout.rows || 24) - OTHER_LINES - (state.dialog === undefined ? 0 : 6));
  return h(
    Box,
    { flexDirection: "column", width },
    ...gatewayLines(state, width),
    h(Text, { key: "tabs", wrap: "truncate" }, ...tabs(state)),
    ...tableLines(state, width, lines),
    ...(state.dialog === undefined ? [] : dialogLines(state.dialog, width)),
    h(
      Text,
      { key: "notice", color: "yellow", wrap: "truncate" },
      state.notice === "" ? " " : visible(state.notice, width),
    ),
    h(Text, { key: "keys", dimColor: true, wrap: "truncate" }, visible(keysOf(state), width)),
  );
}

function gatewayLines({ snapshot, trouble }: TopState, width: number): readonly ReactElement[] {
  const line = (key: string, text: string, color?: string): ReactElement =>
    h(Text, { key, wrap: "truncate", ...(color === undefined ? {} : { color }) }, visible(text, width));
  if (snapshot === undefined) {
    return [line("gateway", trouble === undefined ? "Reading the gateway…" : `Not reachable: ${trouble}`, "red")];
  }
  const { status, prompts } = snapshot;
  const { turns, deliveries, workersInUse, workersMax, workersPooled } = status;
  const delay = (fromDuration(status.loopDelayP99) ?? 0).toFixed(0);
  const counts = [
    `workers ${String(workersInUse)}/${String(workersMax)} +${String(workersPooled)}`,
    `turns ${String(turns?.running ?? 0n)} run ${String(turns?.queued ?? 0n)} wait`,
    `prompts ${String(prompts.length)}`,
    `messages ${String((deliveries?.queued ?? 0n) + (deliveries?.claimed ?? 0n))}`,
    `loop ${delay} ms`,
  ];
  const problems = status.problems.map(({ message }) => message).join(" ");
  const said =
    trouble !== undefined
      ? line("trouble", `Not reachable, trying again: ${trouble}`, "red")
      : line("trouble", problems === "" ? " " : `! ${problems}`, "red");
  const draining = status.draining ? ", draining" : "";
  return [
    line("gateway", `${status.info?.name ?? ""} epoch ${String(status.epoch)}${draining}  ${counts.join("  ")}`),
    said,
  ];
}

function tabs({ view, snapshot }: TopState): readonly ReactElement[] {
  return VIEWS.map((name, index) => {
    const count = snapshot === undefined ? "" : ` ${String(snapshot[name].length)}`;
    return h(
      Text,
      { key: name, bold: name === view, inverse: name === view },
      ` ${String(index + 1)} ${name}${count} `,
    );
  });
}

function tableLines(state: TopState, width: number, lines: number): readonly ReactElement[] {
  const { view, snapshot, before } = state;
  const rows = snapshot === undefined ? [] : rowsOf(view, snapshot, before);
  const selected = selectedPosition(state) ?? 0;
  // The selected row stays in sight.
  const first = Math.max(0, Math.min(selected - Math.floor(lines / 2), rows.length - lines));
  const [head = "", ...body] = layout(
    COLUMNS[view],
    rows.map(({ cells }) => cells),
    width - 2,
  );
  const shown = body.slice(first, first + lines).map((text, index) => {
    const position = first + index;
    const isSelected = position === selected;
    const alarm = rows[position]?.alarm === true ? { color: "yellow" } : {};
    const key = rows[position]?.id ?? String(position);
    return h(Text, { key, inverse: isSelected, wrap: "truncate", ...alarm }, `${isSelected ? ">" : " "} ${text}`);
  });
  const empty = rows.length === 0 ? [h(Text, { key: "none", dimColor: true }, "  none")] : [];
  return [h(Text, { key: "head", dimColor: true, wrap: "truncate" }, `  ${head}`), ...shown, ...empty];
}

function dialogLines(dialog: AnswerDialog, width: number): readonly ReactElement[] {
  const options = dialog.options.map(({ label }, index) => `${String(index + 1)} ${label}`).join("   ");
  return [
    h(Text, { key: "question", bold: true, wrap: "truncate" }, visible(`? ${dialog.question}`, width)),
    h(Text, { key: "options", wrap: "truncate" }, visible(`  ${options}`, width)),
    h(Text, { key: "typed", wrap: "truncate" }, dialog.takesText ? visible(`  > ${dialog.text}_`, width) : " "),
  ];
}

function keysOf({ view, dialog }: TopState): string {
  if (dialog !== undefined) return dialog.takesText ? "number or text, enter to send, esc leave" : "number, esc leave";
  return `${KEYS[view]}  up/down select  1-5 tab  q quit`;
}

type InkKey = Parameters<Parameters<typeof useInput>[0]>[1];

function keyOf(input: string, key: InkKey): Key {
  if (key.ctrl) return { text: "", name: input === "c" ? "interrupt" : undefined };
  if (key.upArrow) return { text: "", name: "up" };
  if (key.downArrow) return { text: "", name: "down" };
  if (key.leftArrow) return { text: "", name: "left" };
  if (key.rightArrow) return { text: "", name: "right" };
  if (key.tab) return { text: "", name: "tab" };
  if (key.return) return { text: "", name: "return" };
  if (key.escape) return { text: "", name: "escape" };
  if (key.backspace || key.delete) return { text: "", name: "backspace" };
  return { text: input };
}
