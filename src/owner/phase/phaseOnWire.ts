import { TurnPhase } from "../../gen/talaria/gateway/v1/turn_service.js";
import type { ExecutionPhase } from "./executionPhase.js";

const ON_WIRE: Readonly<Record<ExecutionPhase, TurnPhase>> = {
  spawned: TurnPhase.TURN_PHASE_SPAWNED,
  proved: TurnPhase.TURN_PHASE_PROVED,
  exercised: TurnPhase.TURN_PHASE_PROVED,
  bootstrapped: TurnPhase.TURN_PHASE_BOOTSTRAPPED,
  adopted: TurnPhase.TURN_PHASE_ADOPTED,
  running: TurnPhase.TURN_PHASE_RUNNING,
  result: TurnPhase.TURN_PHASE_RESULT,
  finishing: TurnPhase.TURN_PHASE_FINISHING,
  finished: TurnPhase.TURN_PHASE_FINISHED,
  interrupted: TurnPhase.TURN_PHASE_INTERRUPTED,
  retired: TurnPhase.TURN_PHASE_FINISHED,
  lost: TurnPhase.TURN_PHASE_LOST,
};

/** A phase as clients see it. */
export function phaseOnWire(phase: ExecutionPhase): TurnPhase {
  return ON_WIRE[phase];
}
