// Devices and the key on PostgreSQL, sealed with a key that is not there: who knows an address can make its device ring.
import { createHash } from "node:crypto";
import type { AskPostgres } from "../store/postgres.ts";
import { devicesMax, type PushDevice, type PushStore } from "./push-store.ts";
import { newPushKey, pushKeyOf } from "./vapid.ts";

/** `place` says which secret this is, so that none can be put where another was. */
export interface PushSeal {
  close(secret: string, place: string): string;
  open(sealed: string, place: string): string;
}

/** Of two that make one at once the first counts. */
const keepKey = {
  name: "push-keep-key",
  text: `INSERT INTO push_key AS old VALUES (1, $1) ON CONFLICT (id) DO UPDATE SET sealed = old.sealed
         RETURNING sealed`,
};
const key = { name: "push-key", text: "SELECT sealed FROM push_key" };
const add = {
  name: "push-add",
  text: `INSERT INTO push_devices SELECT $1::bytea, $2::text, $3::bigint
         WHERE (SELECT count(*) FROM push_devices WHERE endpoint_hash <> $1) < ${devicesMax}
         ON CONFLICT (endpoint_hash) DO UPDATE SET sealed = excluded.sealed, at = excluded.at RETURNING 1`,
};
const list = { name: "push-list", text: "SELECT endpoint_hash, sealed FROM push_devices ORDER BY at" };
const remove = { name: "push-remove", text: "DELETE FROM push_devices WHERE endpoint_hash = $1 RETURNING 1" };
const removeAll = { name: "push-remove-all", text: "DELETE FROM push_devices RETURNING 1" };

const keyPlace = "push_key";

/** The store has the tables of `bridgesOnPostgres`. */
export function createPostgresPushStore(ask: AskPostgres, seal: PushSeal): PushStore {
  return {
    async key() {
      const [known] = await ask<[sealed: string]>(key);
      const fresh = () => seal.close(JSON.stringify(newPushKey().privateJwk), keyPlace);
      const [row] = known === undefined ? await ask<[sealed: string]>(keepKey, [fresh()]) : [known];
      if (row === undefined) throw new Error("a key was stored and did not come back");
      return pushKeyOf(JSON.parse(seal.open(row[0], keyPlace)));
    },
    async add(device) {
      const hash = hashOf(device.endpoint);
      return (
        (await ask(add, [hash, seal.close(JSON.stringify(device), placeOf(hash)), device.at])).length > 0
      );
    },
    async list() {
      const rows = await ask<[hash: Buffer, sealed: string]>(list);
      return rows.map(([hash, sealed]) => JSON.parse(seal.open(sealed, placeOf(hash))) as PushDevice);
    },
    remove: async (endpoint) => (await ask(remove, [hashOf(endpoint)])).length > 0,
    removeAll: async () => (await ask(removeAll)).length,
  };
}

function hashOf(endpoint: string): Buffer {
  return createHash("sha256").update(endpoint).digest();
}

function placeOf(hash: Buffer): string {
  return `push_devices ${hash.toString("hex")}`;
}
