import type { Migration } from "./migration.js";

/**
 * Failed attempts at other gateways; what agents have used by UTC day, kept apart from sessions so that it outlives them, with the pauses that budgets have led to; and what
 * finds records that are old enough to go. Turns that ended before are counted on their days; tokens and cost, which older stores kept
 * by session alone, on the day of the session's last change.
 */
export const m0007UsageAndRetention: Migration = {
  version: 7,
  name: "usage-and-retention",
  sql: `
CREATE TABLE usage_days (
  day INTEGER NOT NULL,
  agent TEXT NOT NULL,
  turns INTEGER NOT NULL DEFAULT 0,
  not_completed INTEGER NOT NULL DEFAULT 0,
  input_tokens INTEGER NOT NULL DEFAULT 0,
  output_tokens INTEGER NOT NULL DEFAULT 0,
  cache_read_tokens INTEGER NOT NULL DEFAULT 0,
  cache_write_tokens INTEGER NOT NULL DEFAULT 0,
  reasoning_tokens INTEGER NOT NULL DEFAULT 0,
  api_calls INTEGER NOT NULL DEFAULT 0,
  cost_usd REAL NOT NULL DEFAULT 0,
  paused_at INTEGER,
  lifted_by TEXT NOT NULL DEFAULT '',
  lifted_at INTEGER,
  PRIMARY KEY (day, agent)
) STRICT, WITHOUT ROWID;

INSERT INTO usage_days (day, agent, turns, not_completed)
  SELECT inputs.ended_at / 86400000, agent, COUNT(*), SUM(inputs.outcome <> 'completed')
  FROM inputs JOIN sessions USING (session_id)
  WHERE inputs.state = 'ended' AND inputs.execution_id IS NOT NULL GROUP BY 1, 2;
INSERT INTO usage_days (day, agent, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, api_calls, cost_usd)
  SELECT updated_at / 86400000, agent, SUM(input_tokens), SUM(output_tokens), SUM(cache_read_tokens), SUM(cache_write_tokens),
    SUM(reasoning_tokens), SUM(api_calls), SUM(cost_usd)
  FROM sessions GROUP BY 1, 2 HAVING SUM(api_calls + input_tokens + output_tokens) > 0 OR SUM(cost_usd) > 0
  ON CONFLICT (day, agent) DO UPDATE SET input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens,
    cache_read_tokens = excluded.cache_read_tokens, cache_write_tokens = excluded.cache_write_tokens,
    reasoning_tokens = excluded.reasoning_tokens, api_calls = excluded.api_calls, cost_usd = excluded.cost_usd;
INSERT INTO usage_days (day, agent, input_tokens, output_tokens, api_calls, cost_usd)
  SELECT updated_at / 86400000, agent, SUM(a.input_tokens), SUM(a.output_tokens), SUM(a.api_calls), SUM(a.cost_usd)
  FROM auxiliary_usage a JOIN sessions USING (session_id) WHERE true GROUP BY 1, 2
  ON CONFLICT (day, agent) DO UPDATE SET input_tokens = input_tokens + excluded.input_tokens,
    output_tokens = output_tokens + excluded.output_tokens, api_calls = api_calls + excluded.api_calls,
    cost_usd = cost_usd + excluded.cost_usd;

CREATE TRIGGER inputs_ended_day AFTER UPDATE OF state ON inputs
  WHEN new.state = 'ended' AND old.state = 'started'
BEGIN
  INSERT INTO usage_days (day, agent, turns, not_completed)
    SELECT new.ended_at / 86400000, agent, 1, new.outcome <> 'completed' FROM sessions WHERE session_id = new.session_id
    ON CONFLICT (day, agent) DO UPDATE SET turns = turns + 1, not_completed = not_completed + excluded.not_completed;
END;

ALTER TABLE delivery_totals ADD COLUMN failed_attempts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE executions ADD COLUMN trimmed INTEGER NOT NULL DEFAULT 0 CHECK (trimmed IN (0, 1));
CREATE INDEX executions_untrimmed ON executions (ended_at) WHERE ended_at IS NOT NULL AND trimmed = 0;
CREATE INDEX launches_gone ON launches (gone_at) WHERE gone_at IS NOT NULL;
CREATE INDEX prompts_ended ON prompts (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX background_processes_exited ON background_processes (updated_at) WHERE state = 'exited';
`,
};
