// A browser asks to be told, at the console: its address at a push service is kept, listed by name, and forgotten.
import { hash } from "node:crypto";
import { arePushKeys, isPushEndpoint, type PushDevice, type PushStore } from "@mcpx/bridges";
import type { Audit, Clock, HttpRequest } from "@mcpx/host";
import { isObject, type JsonObject, McpxError, quoteShort } from "@mcpx/protocol";

export interface PushVerbsOptions {
  store: PushStore;
  audit: Audit;
  clock: Clock;
  user: string;
  /** Origins of push services beside those of the known browsers. */
  services: readonly string[];
}

export interface PushVerbs {
  /** The key to subscribe with, and who is told. */
  show(): Promise<JsonObject>;
  add(request: HttpRequest): Promise<JsonObject>;
  remove(id: string): Promise<JsonObject>;
  /** A person who was logged out everywhere is told nothing any more. */
  removeAll(): Promise<number>;
}

export function pushVerbs({ store, audit, clock, user, services }: PushVerbsOptions): PushVerbs {
  const actor = `console:${user}`;
  return {
    async show() {
      const [{ publicKey }, devices] = await Promise.all([store.key(), store.list()]);
      return { publicKey, devices: devices.map(shown) };
    },
    async add(request) {
      const device = { ...readDevice(await request.json(), services), at: clock.now() };
      if (!(await store.add(device))) {
        throw new McpxError("too_many_connections", "too many devices are notified already", {
          suggestion: "Remove one first",
        });
      }
      await audit.recordNow({ action: "push.add", actor, subject: device.name });
      return shown(device);
    },
    async remove(id) {
      const device = (await store.list()).find((one) => idOf(one) === id);
      if (device === undefined || !(await store.remove(device.endpoint))) {
        throw new McpxError("not_found", `no notified device has the id ${quoteShort(id)}`);
      }
      await audit.recordNow({ action: "push.remove", actor, subject: device.name });
      return { id };
    },
    removeAll: () => store.removeAll(),
  };
}

/** A program that knows the endpoint can make the device ring, so it is never shown again. */
function shown(device: PushDevice): JsonObject {
  return { id: idOf(device), name: device.name, since: new Date(device.at).toISOString() };
}

function idOf({ endpoint }: PushDevice): string {
  return hash("sha256", endpoint, "base64url").slice(0, 22);
}

function readDevice(body: unknown, services: readonly string[]): Omit<PushDevice, "at"> {
  const { subscription, name } = isObject(body) ? body : {};
  const { endpoint, keys } = isObject(subscription) ? subscription : {};
  const { p256dh, auth } = isObject(keys) ? keys : {};
  if (typeof name !== "string" || name === "" || name.length > 80 || /[^\P{C}]/u.test(name)) {
    throw new McpxError("bad_request", "name must be a string of 1 to 80 characters");
  }
  if (typeof endpoint !== "string" || !isPushEndpoint(endpoint, services)) {
    const host = typeof endpoint === "string" ? URL.parse(endpoint)?.host : undefined;
    throw new McpxError(
      "bad_request",
      `subscription.endpoint is at no known push service${host ? `: ${host}` : ""}`,
      {
        suggestion:
          "Where your browser uses another one, put its origin into push.services of the configuration",
      },
    );
  }
  if (
    typeof p256dh !== "string" ||
    typeof auth !== "string" ||
    p256dh.length > 128 ||
    auth.length > 64 ||
    !arePushKeys({ p256dh, auth })
  ) {
    throw new McpxError("bad_request", "subscription.keys are not the keys of a push subscription");
  }
  return { endpoint, p256dh, auth, name };
}
