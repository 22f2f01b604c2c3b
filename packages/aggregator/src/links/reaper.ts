// A process between mcpx and the server it runs. It starts the server in a process group of its own, and ends that
// group when the lifeline (descriptor 3) breaks: however mcpx ended, kill -9 included. It imports nothing of ours.
import { spawn } from "node:child_process";
import { Socket } from "node:net";

const [grace = "", command = "", ...args] = process.argv.slice(2);
const graceMs = Number(grace);
const lookMs = 25;
const lastMs = 500;

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
  if (signalGroup("SIGTERM") && !(await isGone(graceMs))) {
    signalGroup("SIGKILL");
    // Whoever waits for our end shall find nobody left.
    await isGone(lastMs);
  }
  process.exit(0);
}

async function isGone(withinMs: number): Promise<boolean> {
  const until = performance.now() + withinMs;
  while (performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, lookMs));
    if (!signalGroup(0)) return true;
  }
  return false;
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
