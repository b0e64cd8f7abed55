import type { StoredAuthor } from "../../store/turns/storedAuthor.js";

/** A client as an author; `principal` is its canonical identity, such as `client:cli`, and people read the part after the colon. */
export function clientAuthor(principal: string): StoredAuthor {
  return { kind: "client", id: principal, displayName: principal.replace(/^client:/, ""), sentBy: "" };
}
