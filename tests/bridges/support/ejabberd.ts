// Debian's ejabberd on a free port of loopback, with accounts and a service for chats: another server than prosody, with
// the same names.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { freePort } from "./free-port.ts";
import { chatService, domain, passwordOf } from "./prosody.ts";

export async function startEjabberd(
  users: readonly string[],
): Promise<{ port: number; stop(): Promise<void> }> {
  const dir = mkdtempSync(join(tmpdir(), "mcpx-ejabberd-"));
  const port = await freePort();
  const config = join(dir, "ejabberd.yml");
  writeFileSync(
    config,
    `
hosts: [${domain}]
loglevel: warning
auth_method: internal
auth_password_format: scram
listen:
  - { port: ${port}, ip: "127.0.0.1", module: ejabberd_c2s, max_stanza_size: 262144 }
modules:
  mod_disco: {}
  mod_muc:
    host: ${chatService}
    access_create: all
    default_room_options: { anonymous: false, public: true, persistent: false }
`,
  );
  const register = users.map(
    (user) => `ejabberd_auth:try_register(<<"${user}">>, <<"${domain}">>, <<"${passwordOf(user)}">>)`,
  );
  const code = `${[...register, 'io:format("registered~n")'].join(", ")}.`;
  // Without a name of its own it is no node that others could reach.
  const child = spawn(
    "/usr/bin/erl",
    ["-noinput", "-mnesia", "dir", `"${dir}/data"`, "-s", "ejabberd", "-eval", code],
    {
      stdio: ["ignore", "pipe", "inherit"],
      env: {
        ...process.env,
        ...{ HOME: dir, ERL_LIBS: "/usr/lib/x86_64-linux-gnu", EJABBERD_CONFIG_PATH: config },
        ...{ EJABBERD_LOG_PATH: join(dir, "ejabberd.log"), ERL_CRASH_DUMP: join(dir, "crash") },
      },
    },
  );
  const ended = once(child, "exit");
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  const lines = createInterface({ input: child.stdout });
  await new Promise<void>((resolve, reject) => {
    lines.on("line", (line) => line.includes("registered") && resolve());
    child.once("exit", (status) => reject(new Error(`ejabberd ended with ${status}`)));
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
