// The browsers that want to be told, and the key they know the gateway by. Durable when a method resolves.
import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import type { PushKeys } from "./encrypt-push.ts";
import { newPushKey, type PushKey, pushKeyOf } from "./vapid.ts";

export interface PushDevice extends PushKeys {
  /** The address at the push service; whoever knows it can make the device ring. */
  readonly endpoint: string;
  /** What people call it: a browser and a system. */
  readonly name: string;
  /** Ms since 1970. */
  readonly at: number;
}

export interface PushStore {
  /** Made at the first call, and the same from then on. */
  key(): Promise<PushKey>;
  /** False where there are too many already. One that is there is replaced. */
  add(device: PushDevice): Promise<boolean>;
  list(): Promise<PushDevice[]>;
  remove(endpoint: string): Promise<boolean>;
  removeAll(): Promise<number>;
}

const devicesMax = 100;

export function createPushStore(db: DatabaseSync): PushStore {
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
