// A process between mcpx and the server it runs. It starts the server in a process group of its own, and ends that
// group when the lifeline (descriptor 3) breaks: however mcpx ended, kill -9 included. It imports nothing of ours.
import { spawn } from "node:child_process";
import { Socket } from "node:net";

const [grace = "", command = "", ...args] = process.argv.slice(2);
const graceMs = Number(grace);
const lookMs = 25;

const lifeline = new Socket({ fd: 3, readable: true, writable: true });
const server = spawn(command, args, { stdio: "inherit", detached: true });
let isEnding = false;

server.on("spawn", () => tell({ pid: server.pid }));
server.on("error", (error: NodeJS.ErrnoException) => {
  tell({ fault: error.code ?? error.message });
  lifeline.end(() => process.exit(127));
});
server.on("exit", (code, signal) => {
  tell({ code, signal });
  void endGroup();
});

// Nothing is ever said from the other side: whatever happens there is its end.
lifeline.on("error", () => void endGroup());
lifeline.on("close", () => void endGroup());
lifeline.on("end", () => void endGroup());
lifeline.resume();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => void endGroup());

function tell(news: object): void {
  if (lifeline.writable) lifeline.write(`${JSON.stringify(news)}\n`);
}

/** What is left of the group, if anything: asked first, then made to. */
async function endGroup(): Promise<void> {
  if (isEnding || server.pid === undefined) return;
  isEnding = true;
  const until = performance.now() + graceMs;
  let isThere = signalGroup("SIGTERM");
  while (isThere && performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, lookMs));
    isThere = signalGroup(0);
  }
  signalGroup("SIGKILL");
  process.exit(0);
}

/** Whether there was anybody to hear it. */
function signalGroup(signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-(server.pid as number), signal);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
