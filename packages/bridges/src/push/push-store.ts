// The browsers that want to be told, and the key they know the gateway by. Durable when a method resolves. Siblings on
// SQLite and on PostgreSQL.
import type { PushKeys } from "./encrypt-push.ts";
import type { PushKey } from "./vapid.ts";

export interface PushDevice extends PushKeys {
  /** The address at the push service; a program that knows it can make the device ring. */
  readonly endpoint: string;
  /** What people call it: a browser and a system. */
  readonly name: string;
  /** Ms since 1970. */
  readonly at: number;
}

export interface PushStore {
  /** Made at the first call, and the same from then on. */
  key(): Promise<PushKey>;
  /** False where there are too many devices already. A device that is known already is replaced. */
  add(device: PushDevice): Promise<boolean>;
  list(): Promise<PushDevice[]>;
  remove(endpoint: string): Promise<boolean>;
  removeAll(): Promise<number>;
}

export const devicesMax = 100;
