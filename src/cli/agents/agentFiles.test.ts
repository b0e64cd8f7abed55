import { expect, test } from "vitest";

import { agentConfigSchema } from "../../base/config/agentConfigSchema.js";
import { parseYaml } from "../../base/config/loadYaml.js";
import { agentFile, RUNTIMES } from "./agentFiles.js";

test.each(RUNTIMES)("the file of %s is valid, also with every example in it in force", (runtime) => {
  const text = agentFile('The "first" one', runtime);
  expect(parseYaml(text, "agent.yaml", agentConfigSchema)).toMatchObject({ runtime, title: 'The "first" one' });
  const examples = text.replaceAll(/^# (?=[a-z_]+:( |$)| {2})/gm, "");
  expect(parseYaml(examples, "agent.yaml", agentConfigSchema)).toMatchObject({
    mcp_servers: { files: {}, web: {} },
    limits: { max_model_calls: 30 },
  });
});
