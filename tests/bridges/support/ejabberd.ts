// Debian's ejabberd on a free port of loopback, with accounts and a service for chats: another server than prosody, with
// the same names.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { bridgeService, chatService, domain, passwordOf } from "./prosody.ts";
import { type ChatPorts, type ChatServer, startServer } from "./start-server.ts";

export async function startEjabberd(users: readonly string[]): Promise<ChatServer> {
  const ports = { port: await freePort(), componentPort: await freePort() };
  const register = users.map(
    (user) => `ejabberd_auth:try_register(<<"${user}">>, <<"${domain}">>, <<"${passwordOf(user)}">>)`,
  );
  const code = `${[...register, 'io:format("registered~n")'].join(", ")}.`;
  return await startServer("ejabberd", ports, (dir) => {
    const config = join(dir, "ejabberd.yml");
    writeFileSync(config, configOf(ports));
    return {
      program: "/usr/bin/erl",
      // Without a name of its own it is no node that others could reach.
      args: ["-noinput", "-mnesia", "dir", `"${dir}/data"`, "-s", "ejabberd", "-eval", code],
      env: {
        ...process.env,
        ...{ HOME: dir, ERL_LIBS: "/usr/lib/x86_64-linux-gnu", EJABBERD_CONFIG_PATH: config },
        ...{ EJABBERD_LOG_PATH: join(dir, "ejabberd.log"), ERL_CRASH_DUMP: join(dir, "crash") },
      },
      isUp: "registered",
    };
  });
}

function configOf({ port, componentPort }: ChatPorts): string {
  return `
hosts: [${domain}]
loglevel: warning
auth_method: internal
auth_password_format: scram
listen:
  - { port: ${port}, ip: "127.0.0.1", module: ejabberd_c2s, max_stanza_size: 262144 }
  - port: ${componentPort}
    ip: "127.0.0.1"
    module: ejabberd_service
    hosts: { ${bridgeService}: { password: "${passwordOf("mcpx")}" } }
modules:
  mod_disco: {}
  mod_muc:
    host: ${chatService}
    access_create: all
    default_room_options: { anonymous: false, public: true, persistent: false, mam: true }
  mod_mam: { default: always }
`;
}
