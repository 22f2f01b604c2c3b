// Where the process begins: the only reader of its arguments, environment and signals.
import { runCommandLine } from "./command-line/command-line.ts";
import { askAtTerminal } from "./framework/ask-secret.ts";
import { failureText } from "./framework/failure.ts";
import { openInput } from "./framework/input.ts";
import { createInterruption } from "./framework/interruption.ts";
import { createOutput } from "./framework/output.ts";

// The reader of standard output has closed it: `mcpx tail demo | head`.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  process.exit(error.code === "EPIPE" ? 0 : 1);
});

process.on("uncaughtException", (error) => {
  process.stderr.write(failureText(error, process.env.MCPX_DEBUG === "1"));
  process.exit(1);
});

process.exitCode = await runCommandLine(process.argv.slice(2), {
  env: process.env,
  cwd: process.cwd(),
  program: import.meta.url.endsWith(".ts") ? "npx mcpx" : "mcpx",
  output: createOutput(process),
  input: () => openInput(process),
  askSecret: askAtTerminal,
  interrupted: createInterruption(),
});
