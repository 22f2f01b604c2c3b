// A process that ends what mcpx has started, should mcpx end without doing so itself: kill -9 included. It is told of
// process groups on its standard input, `+PID BEGAN` and `-PID` once nobody is left of one. When that input breaks, it
// ends those it knows of, and then itself. Of ours it imports nothing but what a group is.
import { endGroup, type Group } from "./process-group.ts";

const groups = new Map<number, Group>();
let rest = "";
let isOver = false;

process.stdin.setEncoding("latin1").on("data", (text: string) => {
  const lines = (rest + text).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) take(line);
});
for (const end of ["end", "error", "close"]) process.stdin.on(end, () => void endAll());
// However somebody else wants it to end: it is needed for as long as mcpx is there.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});

function take(line: string): void {
  const [, sign, number, began = ""] = /^([+-])([1-9]\d{0,9})(?: (\d{0,20}))?$/.exec(line) ?? [];
  const pid = Number(number);
  // 1 would be everybody.
  if (!(pid > 1)) return;
  if (sign === "+") groups.set(pid, { pid, began });
  else groups.delete(pid);
}

async function endAll(): Promise<void> {
  if (isOver) return;
  isOver = true;
  await Promise.all([...groups.values()].map(endGroup));
  process.exit(0);
}
