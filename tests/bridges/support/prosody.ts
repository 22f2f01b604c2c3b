// Debian's prosody on a free port of loopback, with accounts and a service for chats.
import { spawn } from "node:child_process";
import { createHash, createHmac, pbkdf2Sync } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { freePort } from "./free-port.ts";

export interface Prosody {
  readonly port: number;
  stop(): Promise<void>;
}

export const domain = "localhost";
export const chatService = "chat.localhost";
export const passwordOf = (user: string) => `secret of ${user}`;

export async function startProsody(users: readonly string[]): Promise<Prosody> {
  const dir = mkdtempSync(join(tmpdir(), "mcpx-prosody-"));
  const accounts = join(dir, "data", domain, "accounts");
  mkdirSync(accounts, { recursive: true });
  for (const user of users) writeFileSync(join(accounts, `${user}.dat`), hashedAccount(passwordOf(user)));
  const port = await freePort();
  const config = join(dir, "prosody.cfg.lua");
  writeFileSync(
    config,
    `
    run_as_root = true
    pidfile = "${dir}/prosody.pid"
    data_path = "${dir}/data"
    interfaces = { "127.0.0.1" }
    c2s_ports = { ${port} }
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
      muc_room_default_public_jids = true
      muc_room_locking = false
    `,
  );
  const child = spawn("/usr/bin/prosody", ["--config", config, "-F"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  const lines = createInterface({ input: child.stdout });
  await new Promise<void>((resolve, reject) => {
    lines.on("line", (line) => line.includes("Activated service 'c2s'") && resolve());
    child.once("exit", (code) => reject(new Error(`prosody ended with ${code}`)));
  });
  return {
    port,
    async stop() {
      process.off("exit", kill);
      kill();
      await ended;
      rmSync(dir, { recursive: true, force: true });
    },
  };
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
