import { invalidField } from "../rpcError.js";

/** Holds a repeated field to its count. @throws RpcError INVALID_FIELD where it is empty or holds over `most` */
export function checkCount(field: string, count: number, most: number): void {
  if (count === 0 || count > most) throw invalidField(field, `must hold 1 to ${String(most)}`);
}
