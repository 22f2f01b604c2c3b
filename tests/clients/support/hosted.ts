// A driver whose client runs in a process of its own, without the module conditions of the tests.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Driver, Told } from "./driver.ts";

const host = join(import.meta.dirname, "framework-host.ts");

export function hosted(driver: Driver, dir: string): Driver {
  return {
    ...driver,
    async connect(place) {
      const args = [dir, driver.client, JSON.stringify(place)];
      const child = fork(host, args, { execArgv: [], stdio: ["ignore", "ignore", "pipe", "ipc"] });
      const { tools } = (await answerOf(child)) as { tools: string[] };
      return {
        tools: async () => tools,
        async call(name, given) {
          child.send({ name, args: given });
          return (await answerOf(child)) as Told;
        },
        async close() {
          const ended = once(child, "exit");
          child.disconnect();
          await ended;
        },
      };
    },
  };
}

async function answerOf(child: ChildProcess): Promise<unknown> {
  let said = "";
  const keep = (part: Buffer) => {
    said += part;
  };
  child.stderr?.on("data", keep);
  const ended = once(child, "exit").then(() => {
    throw new Error(`it ended: ${said.slice(-500)}`);
  });
  try {
    const [answer] = await Promise.race([once(child, "message"), ended]);
    return answer;
  } finally {
    child.stderr?.off("data", keep);
    child.stderr?.resume();
    ended.catch(() => {});
  }
}
