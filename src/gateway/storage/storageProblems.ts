import type { Failure } from "../../gen/talaria/types/v1/failure.js";
import { failureOf, toFailure } from "../../rpc/wire/failure.js";
import type { GatewayContext } from "../gatewayContext.js";

/** What is wrong with the home's disk, as the contract writes it; empty while work is taken. */
export function storageProblems({ storage }: Pick<GatewayContext, "storage">): Failure[] {
  const problem = storage.problem();
  return problem === undefined ? [] : [toFailure(failureOf(problem))];
}
