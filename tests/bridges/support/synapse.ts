// Synapse, Matrix's own homeserver, as Debian has it (not in bookworm): on free ports of loopback, with the bridge
// registered as `docs/BRIDGES.md` says, and people who are another application service, so that nobody needs a password.
import { once } from "node:events";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { type CuttableProxy, startProxy } from "./cuttable-proxy.ts";
import { freePort } from "./free-port.ts";
import type { SeenEvent } from "./matrix-shown.ts";
import { startServer } from "./start-server.ts";

interface SynapseEvent extends SeenEvent {
  readonly state_key?: string;
}

export interface Synapse {
  readonly port: number;
  /** Where the bridge shall listen. */
  readonly servicePort: number;
  /** Between Synapse and the bridge. */
  readonly service: CuttableProxy;
  /** Everything that people see, in the order in which Synapse tells it. */
  readonly events: SynapseEvent[];
  /** As this person. */
  call(method: "POST" | "PUT" | "GET", path: string, user: string, body?: object): Promise<SynapseAnswer>;
  stop(): Promise<void>;
}

interface SynapseAnswer {
  room_id: string;
  event_id: string;
}

export const synapseTokens = { as: "as-secret", hs: "hs-secret" };
const people = { as: "people-secret", hs: "people-hs-secret" };
export const serverName = "example.org";
export const synapseBot = `@mcpx:${serverName}`;

/** Where it was installed, if not in this system: `debootstrap sid DIR`, then `apt install matrix-synapse` in there. */
const root = process.env.MCPX_SYNAPSE_ROOT ?? "";
const module = "/usr/lib/python3/dist-packages/synapse/app/homeserver.py";
export const isSynapseThere: boolean = existsSync(join(root, "/", module));

export async function startSynapse(): Promise<Synapse> {
  const [port, servicePort, watchPort] = [await freePort(), await freePort(), await freePort()];
  const service = await startProxy(servicePort);
  const events: SynapseEvent[] = [];
  const watcher = createServer(async (request, response) => {
    const { events: told = [] } = JSON.parse((await text(request)) || "{}") as { events?: SynapseEvent[] };
    events.push(...told);
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
    for (const { type, state_key: user = "", content, room_id: room } of told) {
      const isInvited = type === "m.room.member" && content.membership === "invite" && user !== synapseBot;
      // Their clients accept it.
      if (isInvited) await call("POST", `/rooms/${encodeURIComponent(room)}/join`, user, {});
    }
  }).listen(watchPort, "127.0.0.1");
  await once(watcher, "listening");
  const call: Synapse["call"] = async (method, path, user, body) => {
    const as = path === "/register" ? "" : `?user_id=${encodeURIComponent(user)}`;
    const response = await fetch(`http://127.0.0.1:${port}/_matrix/client/v3${path}${as}`, {
      method,
      headers: { authorization: `Bearer ${people.as}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const answer = (await response.json()) as SynapseAnswer;
    if (!response.ok) throw new Error(`${method} ${path} as ${user}: ${JSON.stringify(answer)}`);
    return answer;
  };
  const ports = { port, servicePort: service.port, watchPort };
  const server = await startServer(
    "synapse",
    { port, servicePort },
    (dir) => {
      const inside = dir.slice(root.length);
      writeConfig(dir, inside, ports);
      const args = ["-m", "synapse.app.homeserver", "-c", `${inside}/homeserver.yaml`];
      const isUp = "now listening on TCP port";
      return root === ""
        ? { program: "/usr/bin/python3", args, isUp }
        : { program: "/usr/sbin/chroot", args: [root, "/usr/bin/python3", ...args], isUp };
    },
    root === "" ? tmpdir() : join(root, "tmp"),
  );
  return {
    ...server,
    service,
    events,
    call,
    async stop() {
      await server.stop();
      watcher.closeAllConnections();
      watcher.close();
      await service.close();
    },
  };
}

interface SynapsePorts {
  port: number;
  servicePort: number;
  watchPort: number;
}

function writeConfig(dir: string, inside: string, { port, servicePort, watchPort }: SynapsePorts): void {
  mkdirSync(join(dir, "media"));
  writeFileSync(
    join(dir, "signing.key"),
    `ed25519 a_test ${Buffer.alloc(32, 7).toString("base64").replace(/=+$/, "")}\n`,
  );
  const log = {
    ...{ version: 1, disable_existing_loggers: false },
    formatters: { plain: { format: "%(levelname)s %(name)s %(message)s" } },
    handlers: { console: { class: "logging.StreamHandler", formatter: "plain", stream: "ext://sys.stdout" } },
    root: { level: "INFO", handlers: ["console"] },
  };
  const config = {
    ...{ server_name: serverName, pid_file: `${inside}/pid`, report_stats: false },
    listeners: [{ port, type: "http", bind_addresses: ["127.0.0.1"], resources: [{ names: ["client"] }] }],
    database: { name: "sqlite3", args: { database: `${inside}/homeserver.db` } },
    ...{ log_config: `${inside}/log.yaml`, media_store_path: `${inside}/media` },
    ...{
      signing_key_path: `${inside}/signing.key`,
      trusted_key_servers: [],
      federation_domain_whitelist: [],
    },
    ...{ macaroon_secret_key: "of the tests", form_secret: "of the tests", presence: { enabled: false } },
    app_service_config_files: [`${inside}/mcpx.yaml`, `${inside}/people.yaml`],
  };
  const bridge = {
    ...{ id: "mcpx", url: `http://127.0.0.1:${servicePort}`, sender_localpart: "mcpx", rate_limited: false },
    ...{ as_token: synapseTokens.as, hs_token: synapseTokens.hs },
    namespaces: { users: [], aliases: [], rooms: [] },
  };
  const others = {
    ...{
      id: "people",
      url: `http://127.0.0.1:${watchPort}`,
      sender_localpart: "people",
      rate_limited: false,
    },
    ...{ as_token: people.as, hs_token: people.hs },
    namespaces: { users: [{ exclusive: false, regex: "@(?!mcpx:).*" }], aliases: [], rooms: [] },
  };
  // JSON is YAML.
  for (const [name, content] of Object.entries({ log, homeserver: config, mcpx: bridge, people: others })) {
    writeFileSync(join(dir, `${name}.yaml`), JSON.stringify(content));
  }
}
