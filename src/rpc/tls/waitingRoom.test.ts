import { describe, expect, it } from "vitest";
import { createWaitingRoom, type WaitingRoom } from "./waitingRoom.js";

const PATIENCE_MS = 1_000;

/** Has everybody in the room called, in the order of the turns. */
function callAll<T>(room: WaitingRoom<T>, nowMs = 0): T[] {
  const called: T[] = [];
  for (let one = room.next(nowMs); one !== undefined; one = room.next(nowMs)) called.push(one);
  return called;
}

/** A room with the given, all ready; a name begins with its source. */
function roomOf(names: readonly string[], places = 100): WaitingRoom<string> {
  const room = createWaitingRoom<string>(places, PATIENCE_MS);
  for (const name of names) {
    room.enter(name, name.charAt(0));
    room.ready(name, 0);
  }
  return room;
}

describe("a waiting room", () => {
  it("calls those of one source in the order in which they became ready", () => {
    const room = createWaitingRoom<string>(10, PATIENCE_MS);
    for (const name of ["a1", "a2", "a3"]) room.enter(name, "a");
    for (const name of ["a2", "a3", "a1", "a2"]) room.ready(name, 0);
    expect(callAll(room)).toEqual(["a2", "a3", "a1"]);
    expect(room.size).toBe(0);
  });

  it("lets sources take turns, whatever one of them sends", () => {
    const room = roomOf(["a1", "a2", "a3", "a4", "b1", "b2", "c1"]);
    expect(callAll(room)).toEqual(["a1", "b1", "c1", "a2", "b2", "a3", "a4"]);
  });

  it("lets a source that comes later have its turn next but for those before it", () => {
    const room = roomOf(["a1", "a2", "a3"]);
    expect(room.next(0)).toBe("a1");
    room.enter("b1", "b");
    room.ready("b1", 0);
    expect(callAll(room)).toEqual(["a2", "b1", "a3"]);
  });

  it("never calls one that is not ready, and keeps its place", () => {
    const room = createWaitingRoom<string>(10, PATIENCE_MS);
    room.enter("a1", "a");
    expect(room.next(0)).toBeUndefined();
    expect(room.all()).toEqual(["a1"]);
  });

  it("calls the newest first once the oldest has waited too long, until nobody has", () => {
    const room = createWaitingRoom<string>(10, PATIENCE_MS);
    for (const name of ["a0", "a200", "a400", "a1400", "a1500"]) {
      room.enter(name, "a");
      room.ready(name, Number(name.slice(1)));
    }
    room.leave("a1400");
    expect(room.next(PATIENCE_MS)).toBe("a0");
    expect(room.next(PATIENCE_MS + 500)).toBe("a1500");
    room.enter("a1600", "a");
    room.ready("a1600", 1_600);
    expect(room.next(PATIENCE_MS + 600)).toBe("a1600");
    room.leave("a200");
    expect(room.next(PATIENCE_MS + 400)).toBe("a400");
    expect(room.size).toBe(0);
  });

  it("judges the wait of each source by itself", () => {
    const room = roomOf(["a1", "a2"]);
    for (const name of ["b1", "b2"]) {
      room.enter(name, "b");
      room.ready(name, 500);
    }
    expect(callAll(room, 1_200)).toEqual(["a2", "b1", "a1", "b2"]);
  });

  it("forgets who leaves", () => {
    const room = roomOf(["a1", "a2", "b1"]);
    for (const name of ["a1", "b1", "b1", "stranger"]) room.leave(name);
    room.ready("b1", 0);
    expect(room.size).toBe(1);
    expect(callAll(room)).toEqual(["a2"]);
  });

  it("sends the oldest of the fullest source away, so that others keep their places", () => {
    const room = createWaitingRoom<string>(4, PATIENCE_MS);
    for (const name of ["b1", "a1", "a2", "a3"]) expect(room.enter(name, name.charAt(0))).toBeUndefined();
    expect(room.enter("b2", "b")).toBe("a1");
    expect(room.enter("a4", "a")).toBe("a2");
    expect(room.enter("c1", "c")).toBe("b1");
    expect([...room.all()].sort()).toEqual(["a3", "a4", "b2", "c1"]);
  });

  it("keeps no source that nobody is left of", () => {
    const room = roomOf(["a1"], 2);
    expect(room.next(0)).toBe("a1");
    room.enter("b1", "b");
    room.enter("b2", "b");
    expect(room.enter("a2", "a")).toBe("b1");
  });
});
