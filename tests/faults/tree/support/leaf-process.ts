// Starts subservers as a process, and keeps what they tell.
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { programArgs } from "../../../support/programs.ts";
import type { LeafLine, LeafOptions, LeafOrder } from "./leaf.ts";
import type { TreeNode } from "./tree-node.ts";

type Effect = Extract<LeafLine, { event: "effect" }>;
type State = Extract<LeafLine, { event: "state" }>;
type Registered = Extract<LeafLine, { event: "registered" }>;

export interface LeafProcess {
  readonly segments: readonly string[];
  /** In all its lives, oldest first. */
  readonly effects: readonly Effect[];
  readonly states: readonly State[];
  readonly registered: readonly Registered[];
  /** Resolves when it has been carried out. */
  order(order: LeafOrder): Promise<void>;
  readonly isUp: boolean;
  freeze(): void;
  thaw(): void;
  kill(): Promise<void>;
  /** Starts it again, as the same ones, and has all of them come. */
  revive(): Promise<void>;
}

export interface LeafGroup extends Omit<LeafOptions, "leaves" | "url"> {
  /** Instead of the node's own address, such as a link's. */
  url?: string;
  /** Instead of tokens of the node, such as those of an issuer. */
  tokenFor?(segment: string): string;
  /** They wait for the order to come. */
  isWaiting?: boolean;
}

/** Resolves when all of them are registered. */
export async function startLeaves(
  node: Pick<TreeNode, "url" | "tokensFor">,
  segments: readonly string[],
  { url = node.url, tokenFor, isWaiting = false, ...rest }: LeafGroup,
): Promise<LeafProcess> {
  const tokens = tokenFor === undefined ? await node.tokensFor(segments) : segments.map(tokenFor);
  const leaves = segments.map((segment, index) => ({
    segment,
    token: tokens[index] as string,
    subserverId: randomUUID(),
  }));
  const options: LeafOptions = { url, leaves, ...rest };
  const effects: Effect[] = [];
  const states: State[] = [];
  const registered: Registered[] = [];
  const errors: string[] = [];
  let done: (() => void)[] = [];
  let child: ChildProcess;

  function start(): void {
    const args = [...programArgs("tests/faults/tree/support/leaf.ts"), JSON.stringify(options)];
    child = spawn(process.execPath, args, { stdio: "pipe" });
    createInterface({ input: child.stderr as NodeJS.ReadableStream }).on("line", (line) => errors.push(line));
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on("line", (text) => {
      const line: LeafLine = JSON.parse(text);
      if (line.event === "effect") effects.push(line);
      else if (line.event === "state") states.push(line);
      else if (line.event === "registered") registered.push(line);
      else done.shift()?.();
    });
  }

  async function order(given: LeafOrder): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const ended = () => reject(new Error(`the subservers ended:\n${errors.slice(-20).join("\n")}`));
    child.once("exit", ended);
    done.push(resolve);
    child.stdin?.write(`${JSON.stringify(given)}\n`);
    await promise.finally(() => child.off("exit", ended));
  }

  const isUp = () => child.exitCode === null && child.signalCode === null;
  start();
  if (!isWaiting) await order({ come: segments });
  return {
    segments,
    effects,
    states,
    registered,
    order,
    get isUp() {
      return isUp();
    },
    freeze: () => void child.kill("SIGSTOP"),
    thaw: () => void child.kill("SIGCONT"),
    async kill() {
      if (!isUp()) return;
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
      done = [];
    },
    async revive() {
      start();
      await order({ come: segments });
    },
  };
}
