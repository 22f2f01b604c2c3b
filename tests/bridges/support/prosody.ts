// Debian's prosody on a free port of loopback, with accounts and a service for chats.
import { createHash, createHmac, pbkdf2Sync } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { type ChatPorts, type ChatServer, startServer } from "./start-server.ts";

export const domain = "localhost";
export const chatService = "chat.localhost";
/** The address of the component. */
export const bridgeService = "bridge.localhost";
export const passwordOf = (user: string) => `secret of ${user}`;

export async function startProsody(users: readonly string[]): Promise<ChatServer> {
  const ports = { port: await freePort(), componentPort: await freePort() };
  return await startServer("prosody", ports, (dir) => {
    const accounts = join(dir, "data", domain, "accounts");
    mkdirSync(accounts, { recursive: true });
    for (const user of users) writeFileSync(join(accounts, `${user}.dat`), hashedAccount(passwordOf(user)));
    const config = join(dir, "prosody.cfg.lua");
    writeFileSync(config, configOf(dir, ports));
    return {
      ...{ program: "/usr/bin/prosody", args: ["--config", config, "-F"] },
      isUp: "Activated service 'c2s'",
    };
  });
}

function configOf(dir: string, { port, componentPort }: ChatPorts): string {
  return `
    run_as_root = true
    pidfile = "${dir}/prosody.pid"
    data_path = "${dir}/data"
    interfaces = { "127.0.0.1" }
    c2s_ports = { ${port} }
    component_ports = { ${componentPort} }
    component_interfaces = { "127.0.0.1" }
    s2s_ports = {}
    http_ports = {}
    https_ports = {}
    c2s_direct_tls_ports = {}
    modules_enabled = { "disco", "roster", "saslauth", "ping", "smacks" }
    modules_disabled = { "tls", "s2s", "limits" }
    authentication = "internal_hashed"
    c2s_require_encryption = false
    allow_unencrypted_plain_auth = false
    log = { info = "*console" }
    VirtualHost "${domain}"
    Component "${chatService}" "muc"
      modules_enabled = { "muc_mam" }
      storage = { muc_log = "memory" }
      muc_room_default_public_jids = true
      muc_room_locking = false
    Component "${bridgeService}"
      component_secret = "${passwordOf("mcpx")}"
    `;
}

/** As prosody keeps it (RFC 5802), with few rounds: ten thousand of them in Lua take most of a second a login. */
function hashedAccount(password: string): string {
  const [salt, rounds] = ["salt of the tests", 16];
  const salted = pbkdf2Sync(password, salt, rounds, 20, "sha1");
  const key = (name: string) => createHmac("sha1", salted).update(name).digest();
  const stored = createHash("sha1").update(key("Client Key")).digest("hex");
  const server = key("Server Key").toString("hex");
  return `return { salt = "${salt}", iteration_count = ${rounds}, stored_key = "${stored}", server_key = "${server}" };`;
}
