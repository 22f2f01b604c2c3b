// Tools that have changed, from the gateway that runs, or else from the data directory.
import { changeReport, type PinStore } from "@mcpx/aggregator";
import { isObject, type JsonObject, withoutRoot, withRoot } from "@mcpx/protocol";
import { accessGateway, callGateway, hasGateway } from "../access/gateway-access.ts";
import { homeOf } from "../files/data-dir.ts";
import { type LocalStore, localUser, withStore } from "../files/local-store.ts";
import type { Context, gatewayOptions } from "../framework/command.ts";
import { Failure } from "../framework/failure.ts";
import type { Output } from "../framework/output.ts";
import { visible } from "../framework/visible.ts";

type GatewayContext = Context<typeof gatewayOptions>;

export interface Change {
  canonical: string;
  server: string;
  tool: string;
  hash: string;
  since: string;
  diff: string[];
}

export interface ToolChanges {
  /** Canonical names. */
  list(): Promise<string[]>;
  /** `undefined` where the tool is as it was. */
  find(name: string): Promise<Change | undefined>;
  /** Only if the change is still the one that was looked at. */
  accept(change: Change): Promise<void>;
}

export function toolChanges(context: GatewayContext): ToolChanges {
  return hasGateway(context) ? askedChanges(context) : storedChanges(context);
}

function askedChanges(context: GatewayContext): ToolChanges {
  const access = accessGateway(context, { sub: `cli:${localUser()}`, topics: [], admin: true });
  const call = async (method: "GET" | "POST", path: string, body?: JsonObject) =>
    callGateway(await access.enter(), method, `/admin/tools${path}`, body);
  return {
    async list() {
      const { tools } = await call("GET", "");
      const held = Array.isArray(tools) ? tools.filter(isObject) : [];
      return held.filter(({ state }) => state === "quarantined").map(({ canonical }) => String(canonical));
    },
    async find(name) {
      const answer = await call("GET", `/${encodeURIComponent(name)}`).catch((error) => {
        throw isNotFound(error) ? unknownTool(name) : error;
      });
      return answer.state === "quarantined" ? toChange(answer) : undefined;
    },
    async accept({ canonical, hash }) {
      await call("POST", `/${encodeURIComponent(canonical)}/accept`, { hash });
    },
  };
}

function storedChanges(context: GatewayContext): ToolChanges {
  const inStore = <T>(
    work: (pins: PinStore, root: string | undefined, store: LocalStore) => Promise<T>,
  ): Promise<T> =>
    withStore(homeOf(context, context.options), {}, async (store) => {
      const { pins, facts } = await store.tree();
      return await work(pins, await facts.storedRoot(), store);
    });
  return {
    list: () =>
      inStore(async (pins, root) => (await pins.changed()).map(({ canonical }) => withRoot(root, canonical))),
    find: (name) =>
      inStore(async (pins, root) => {
        const inside = withoutRoot(root, name);
        const found = (await pins.changed()).find(({ canonical }) => canonical === inside);
        const change = found && (await pins.change(found.server, found.tool));
        return change && toChange({ ...found, canonical: withRoot(root, inside), ...changeReport(change) });
      }),
    accept: ({ canonical, server, tool, hash }) =>
      inStore(async (pins, _, { audit }) => {
        if (!(await pins.accept(server, tool, hash)))
          throw new Failure(`${canonical} has changed again`, "look at it with mcpx tools diff");
        const detail = { server, tool, now: hash };
        await audit.recordNow({
          action: "tool.accept",
          actor: `cli:${localUser()}`,
          subject: canonical,
          detail,
        });
      }),
  };
}

/** What changed, each line in its colour. */
export function changeLines({ canonical, server, since, diff }: Change, { paint }: Output): string[] {
  const head = `${canonical} of ${server} has changed, seen ${since.slice(0, 19).replace("T", " ")}`;
  return [
    paint("bold", visible(head)),
    ...diff.map((line) => {
      const style = line.startsWith("+") ? "green" : line.startsWith("-") ? "red" : "dim";
      return paint(style, `  ${visible(line)}`);
    }),
  ];
}

function toChange({ canonical, server, tool, hash, since, diff }: JsonObject): Change {
  const lines = Array.isArray(diff) ? diff.map(String) : [];
  return {
    canonical: String(canonical),
    server: String(server),
    tool: String(tool),
    hash: String(hash),
    since: String(since),
    diff: lines,
  };
}

function isNotFound(error: unknown): boolean {
  return error instanceof Failure && error.reason === "not_found";
}

function unknownTool(name: string): Failure {
  return new Failure(`there is no tool ${name}`, "see mcpx tools");
}
