import { jsonDocuments } from "./jsonDocuments.js";

interface PrintedTurn {
  readonly inputId: string;
  readonly sessionId: string;
  readonly text: string;
  readonly outcome?: string;
  readonly queuedAt: string;
  readonly result?: { readonly finalResponse: string };
}

/** An update of RunTurn as canonical JSON, as far as the tests look at it. */
interface PrintedUpdate {
  readonly at: string;
  readonly inputQueued?: { readonly turn: PrintedTurn; readonly replayed?: boolean };
  readonly events?: { readonly events: readonly { readonly delta?: { readonly text: string } }[] };
  readonly promptRaised?: { readonly promptId: string; readonly offered: readonly string[] };
  readonly turnEnded?: { readonly turn: PrintedTurn };
}

/** A printed RunTurn stream, taken apart. */
export interface TurnUpdates {
  readonly updates: readonly PrintedUpdate[];
  /** The streamed pieces of text, in order. */
  readonly pieces: readonly string[];
  /** Whether the first update says that an earlier call queued the input. */
  readonly replayed: boolean;
  /** The turn as it ended; undefined when the stream broke off before. */
  readonly ended: PrintedTurn | undefined;
}

/** Takes apart what a tool printed of a RunTurn stream. */
export function turnUpdates(printed: string): TurnUpdates {
  const updates = jsonDocuments(printed).map((document) => (document as { update: PrintedUpdate }).update);
  const events = updates.flatMap((update) => update.events?.events ?? []);
  return {
    updates,
    pieces: events.flatMap(({ delta }) => (delta === undefined ? [] : [delta.text])),
    replayed: updates[0]?.inputQueued?.replayed === true,
    ended: updates.at(-1)?.turnEnded?.turn,
  };
}
