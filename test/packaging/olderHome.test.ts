import { rmSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";

import { homePaths } from "../../src/base/home.js";
import { SessionServiceService } from "../../src/gen/talaria/gateway/v1/session_service.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { openDatabase } from "../../src/store/database.js";
import { migrate, schemaVersion } from "../../src/store/migrate.js";
import { migrations } from "../../src/store/migrations/index.js";
import { writeHome } from "../kit/homeFiles.js";
import { startTestGateway } from "../kit/testGateway.js";

const HOME_ID = "0123456789abcdef0123456789abcdef";
const SESSION = `ses_${"0".repeat(26)}`;

/** A home whose store is at an earlier version of the schema, with rows as that version had them. */
function olderHome(version: number): string {
  const home = writeHome();
  onTestFinished(() => {
    rmSync(home, { recursive: true, force: true });
  });
  const database = openDatabase(homePaths(home).database);
  migrate(database, migrations.slice(0, version));
  database.exec(`
    INSERT INTO meta (key, value) VALUES ('home_id', '${HOME_ID}'), ('home_key', x'${"ab".repeat(32)}');
    INSERT INTO epochs (epoch, started_at_ms, pid, birth_ticks, boot_id) VALUES (7, 1, 1, 1, 'an earlier boot');`);
  if (version >= 2) {
    database.exec(`
      INSERT INTO sessions (session_id, agent, title, bot_chat, on_unknown, policy, created_at, updated_at)
      VALUES ('${SESSION}', 'echo', 'from before', 0, 'pause', x'', 1, 1);`);
  }
  database.close();
  return home;
}

test.each(migrations.slice(0, -1).map(({ version, name }) => [version, name] as const))(
  "a home at version %d (%s) is migrated at its start, keeps what it had, and works",
  async (version) => {
    const home = olderHome(version);
    const gateway = await startTestGateway({ home });
    try {
      expect(gateway.gateway.epoch).toBe(8);
      expect(gateway.context.store.homeId).toBe(HOME_ID);
      const list = { agent: "", pageSize: 0, pageToken: "", states: [], parentSessionId: "" };
      const { sessions } = await unaryCall(gateway.client.client, SessionServiceService.listSessions, list);
      expect(sessions.map(({ title }) => title)).toEqual(version >= 2 ? ["from before"] : []);
      expect(await gateway.client.run("echo", "it works").outcome()).toMatchObject({ answer: "it works" });
    } finally {
      await gateway.close();
    }
    const database = openDatabase(homePaths(home).database);
    expect(schemaVersion(database)).toBe(migrations.length);
    expect(database.prepare("PRAGMA foreign_key_check").all()).toEqual([]);
    database.close();
  },
);
