// Debian's firefox-esr by WebDriver BiDi, spoken as its document says: Playwright asks that browser for commands it does
// not know. One page; what is not there yet is waited for.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { WebSocket } from "ws";

export interface Firefox {
  go(url: string): Promise<void>;
  /** Back and forth. */
  traverse(delta: number): Promise<void>;
  reload(): Promise<void>;
  /** What an expression is in the page; it becomes JSON on the way. */
  read(expression: string): Promise<unknown>;
  /** Until the expression is true there. */
  until(expression: string): Promise<void>;
  /** A key, or several that are held together: "Control+Enter". */
  press(keys: string): Promise<void>;
  type(text: string): Promise<void>;
  /** Where the first element of the selector is that has this text. */
  click(selector: string, text?: string): Promise<void>;
  close(): Promise<void>;
}

const named: Readonly<Record<string, string>> = {
  Control: "\uE009",
  Enter: "\uE007",
  Escape: "\uE00C",
  Shift: "\uE008",
};
const waitMs = 30_000;

export async function openFirefox(): Promise<Firefox> {
  const profile = mkdtempSync(join(tmpdir(), "mcpx-firefox-"));
  const args = [
    "--headless",
    "--no-remote",
    "--profile",
    profile,
    "--remote-debugging-port=0",
    "about:blank",
  ];
  const program = spawn("/usr/bin/firefox-esr", args, {
    env: { ...process.env, HOME: profile, MOZ_DISABLE_CONTENT_SANDBOX: "1" },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const socket = new WebSocket(`${await addressOf(program)}/session`);
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  const send = speak(socket);
  await send("session.new", { capabilities: {} });
  const { contexts } = await send("browsingContext.getTree", {});
  const [{ context }] = contexts as [{ context: string }];
  await send("browsingContext.setViewport", { context, viewport: { width: 1280, height: 800 } });

  const read: Firefox["read"] = async (expression) => {
    const { result, exceptionDetails } = await send("script.evaluate", {
      expression: `JSON.stringify((${expression}) ?? null)`,
      target: { context },
      awaitPromise: true,
    });
    if (exceptionDetails !== undefined) throw new Error(`${expression}: ${JSON.stringify(exceptionDetails)}`);
    return JSON.parse((result as { value: string }).value);
  };
  const until: Firefox["until"] = async (expression) => {
    const end = performance.now() + waitMs;
    // While a page is loaded there is none to ask.
    for (;;) {
      if ((await read(expression).catch(() => false)) === true) return;
      if (performance.now() > end) throw new Error(`never came true: ${expression}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const act = (source: object) => send("input.performActions", { context, actions: [source] });
  const keys = (actions: object[]) => act({ type: "key", id: "keys", actions });
  return {
    read,
    until,
    async go(url) {
      await send("browsingContext.navigate", { context, url, wait: "complete" });
    },
    async traverse(delta) {
      await send("browsingContext.traverseHistory", { context, delta });
    },
    async reload() {
      await send("browsingContext.reload", { context, wait: "complete" });
    },
    async press(combination) {
      const values = combination.split("+").map((name) => named[name] ?? name);
      const down = values.map((value) => ({ type: "keyDown", value }));
      await keys([...down, ...values.toReversed().map((value) => ({ type: "keyUp", value }))]);
    },
    async type(text) {
      await keys(
        [...text].flatMap((value) => [
          { type: "keyDown", value },
          { type: "keyUp", value },
        ]),
      );
    },
    async click(selector, text = "") {
      const found = `[...document.querySelectorAll(${JSON.stringify(selector)})].find((one) => one.textContent.includes(${JSON.stringify(text)}) && one.getClientRects().length > 0)`;
      await until(`${found} !== undefined && !${found}.disabled`);
      const [x, y] = (await read(
        `(() => { const one = ${found}; one.scrollIntoView({ block: "nearest" }); const { x, y, width, height } = one.getBoundingClientRect(); return [Math.round(x + width / 2), Math.round(y + height / 2)]; })()`,
      )) as [number, number];
      const pointer = { type: "pointer", id: "mouse", parameters: { pointerType: "mouse" } };
      const press = [
        { type: "pointerMove", x, y },
        { type: "pointerDown", button: 0 },
        { type: "pointerUp", button: 0 },
      ];
      await act({ ...pointer, actions: press });
    },
    async close() {
      await send("browser.close", {}).catch(() => undefined);
      socket.terminate();
      program.kill("SIGKILL");
      await new Promise((resolve) =>
        program.exitCode === null ? program.once("exit", resolve) : resolve(0),
      );
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function addressOf({ stderr }: ChildProcess): Promise<string> {
  if (stderr === null) throw new Error("firefox-esr says nothing");
  for await (const line of createInterface({ input: stderr })) {
    const address = /WebDriver BiDi listening on (ws:\S+)/.exec(line)?.[1];
    if (address !== undefined) return address;
  }
  throw new Error("firefox-esr ended before it listened");
}

/** Every command has its answer. */
function speak(socket: WebSocket) {
  const waiting = new Map<number, PromiseWithResolvers<Record<string, unknown>>>();
  let last = 0;
  socket.on("message", (data) => {
    const { id, result, error, message } = JSON.parse(String(data)) as Record<string, unknown>;
    const one = waiting.get(Number(id));
    waiting.delete(Number(id));
    if (error === undefined) one?.resolve(result as Record<string, unknown>);
    else one?.reject(new Error(`${String(error)}: ${String(message)}`));
  });
  return (method: string, params: object): Promise<Record<string, unknown>> => {
    last += 1;
    const answer = Promise.withResolvers<Record<string, unknown>>();
    waiting.set(last, answer);
    socket.send(JSON.stringify({ id: last, method, params }));
    return answer.promise;
  };
}
