import { describe, expect, it } from "vitest";
import { createDeliveryHub } from "../deliveryHub.js";
import { createReceiptChanges } from "./receiptChanges.js";

/** Watches of three peers, and who of them is told of changes; each delivery is named `<scope>/<anything>`. */
function watched() {
  const looks: string[] = [];
  const hub = createDeliveryHub();
  const changes = createReceiptChanges(hub, (id) => {
    looks.push(id);
    return id.startsWith("gone") ? undefined : id.split("/")[0];
  });
  const told: string[] = [];
  const stops = ["peer:a", "peer:b", "peer:c"].map((scope) => changes.onScope(scope, () => told.push(scope)));
  return { hub, changes, told, looks, stops };
}

describe("receipt changes", () => {
  it("are told to the watches of the scope that they concern, once each", () => {
    const { hub, changes, told } = watched();
    changes.onScope("peer:b", () => told.push("peer:b again"));
    hub.notify(["peer:b/1", "peer:b/2"]);
    expect(told).toEqual(["peer:b", "peer:b again"]);
  });

  it("are told to nobody where nobody watches the scope, or the delivery is gone", () => {
    const { hub, told } = watched();
    hub.notify(["peer:z/1"]);
    hub.notify(["gone/1"]);
    expect(told).toEqual([]);
  });

  it("are told to everybody, without a look, where that is no more work", () => {
    const { hub, told, looks } = watched();
    hub.notify(["peer:b/1", "peer:b/2", "peer:b/3"]);
    expect(told).toEqual(["peer:a", "peer:b", "peer:c"]);
    expect(looks).toEqual([]);
  });

  it("are not told to a watch that has ended", () => {
    const { hub, told, stops } = watched();
    stops[1]?.();
    hub.notify(["peer:b/1"]);
    expect(told).toEqual([]);
  });
});
