// Devices and the key in tables of a database that the command line has opened.
import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import { devicesMax, type PushDevice, type PushStore } from "./push-store.ts";
import { newPushKey, type PushKey, pushKeyOf } from "./vapid.ts";

export function createSqlitePushStore(db: DatabaseSync): PushStore {
  const sql = {
    key: db.prepare("SELECT jwk FROM push_key"),
    addKey: db.prepare("INSERT INTO push_key (id, jwk) VALUES (1, ?) ON CONFLICT DO NOTHING"),
    add: db.prepare(
      `INSERT OR REPLACE INTO push_devices (endpoint, p256dh, auth, name, at) SELECT ?, ?, ?, ?, ?
       WHERE (SELECT count(*) FROM push_devices WHERE endpoint <> ?) < ${devicesMax}`,
    ),
    list: db.prepare("SELECT * FROM push_devices ORDER BY at, endpoint"),
    remove: db.prepare("DELETE FROM push_devices WHERE endpoint = ?"),
    removeAll: db.prepare("DELETE FROM push_devices"),
  };
  const known = () => {
    const row = sql.key.get();
    return row === undefined ? undefined : pushKeyOf(JSON.parse(String(row.jwk)));
  };
  return {
    async key() {
      // Of two that make one at once the first counts.
      if (known() === undefined) sql.addKey.run(JSON.stringify(newPushKey().privateJwk));
      return known() as PushKey;
    },
    add: async ({ endpoint, p256dh, auth, name, at }) =>
      sql.add.run(endpoint, p256dh, auth, name, at, endpoint).changes === 1,
    list: async () => sql.list.all().map(deviceOf),
    remove: async (endpoint) => sql.remove.run(endpoint).changes === 1,
    removeAll: async () => Number(sql.removeAll.run().changes),
  };
}

function deviceOf(row: Record<string, SQLOutputValue>): PushDevice {
  const { endpoint, p256dh, auth, name } = row as Record<string, string>;
  return { endpoint, p256dh, auth, name, at: Number(row.at) } as PushDevice;
}
