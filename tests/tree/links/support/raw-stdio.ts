// A raw stdio server for the wires' cases; see raw-methods.ts.
import { createInterface } from "node:readline";
import { rawAnswer } from "./raw-methods.ts";

const input = createInterface({ input: process.stdin });
process.stderr.write("raw is up\n");
input.on("line", (line) => {
  const message = JSON.parse(line);
  const send = () => {
    for (const text of rawAnswer(message, line) ?? []) process.stdout.write(`${text}\n`);
  };
  if (message.method === "slow") setTimeout(send, 300);
  else if (message.method === "end") process.exit(3);
  else send();
});
