/** What direct messages need of the owner of turns. */
export interface TurnPort {
  /**
   * The policy that a session of an agent is created with, encoded.
   * @throws RpcError AGENT_INVALID where the agent's configuration cannot be used.
   */
  freezePolicy(agent: string): Uint8Array;
  /** Says that these sessions have got an input. Called after the commit; never throws. */
  wake(sessionIds: readonly string[]): void;
}
