// The oracle where attackers come to register: besides everything else, a subserver that was there before is still
// listed, still called, and nobody else speaks in its name.
import type { TokenClaims } from "@mcpx/host";
import { expect } from "vitest";
import {
  type Message,
  type RawOptions,
  type RawRegistrant,
  rawRegistrant,
  registrationOf,
  toolOf,
} from "../tree/registration/support/raw-registrant.ts";
import { ask, callTool, type Place, textOf } from "../tree/support/ask.ts";
import { type Findings, Oracle } from "./oracle.ts";

interface TreeOracle {
  readonly oracle: Oracle;
  readonly place: Place;
  /** Of the tree, as it told the honest one. */
  readonly aggregatorId: string;
  /** Of the honest one. */
  readonly sessionId: string;
  readonly subserverId: string;
  /** Somebody with a token of its own who has said nothing yet. */
  stranger(options?: RawOptions, claims?: Partial<TokenClaims>): Promise<RawRegistrant>;
  /** Somebody who is part of the tree, as `segment`. */
  member(segment: string, options?: RawOptions, more?: object): Promise<Member>;
  named(segment: string): Promise<string[]>;
  check(findings: Pick<Findings, "denials">): Promise<void>;
  /** As `check`, where it is a matter of time how many calls of others failed and how that was put on record. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

interface Member extends RawRegistrant {
  readonly session: string;
  readonly answer: Message;
}

export async function startTreeOracle(): Promise<TreeOracle> {
  const oracle = await Oracle.start({
    config: { degraded: { grace: 0 }, subservers: { named: { authority: "edge.example.com" } } },
  });
  const { server } = oracle;
  const token = oracle.hide(await server.token({ sub: "alice", topics: [], tools: ["**"] }));
  const place = { url: `${server.url}/mcp`, token };
  const registrants: RawRegistrant[] = [];

  const stranger: TreeOracle["stranger"] = async (options = {}, claims = {}) => {
    const own = await oracle.token({ topics: [], level: undefined, ...claims } as never);
    const registrant = await rawRegistrant(server.url, own, { parentId: null, ...options });
    registrants.push(registrant);
    return registrant;
  };
  const member: TreeOracle["member"] = async (segment, options, more) => {
    const registrant = await stranger(options, { segment, scope: "write" } as never);
    const { result, error } = await registrant.register(registrationOf(segment, more));
    if (result === undefined) throw new Error(JSON.stringify(error).slice(0, 500));
    return Object.assign(registrant, { session: result.session_id, answer: result });
  };
  const subserverId = crypto.randomUUID();
  const honest = await member("honest", { tools: [toolOf("t")] }, { subserver_id: subserverId });

  async function callHonest(): Promise<void> {
    const mark = crypto.randomUUID();
    // The first time it may be listed only now.
    const heard = await callTool(place, "honest.t", { mark }, { signal: AbortSignal.timeout(10_000) });
    if (!textOf(heard).includes(mark)) throw new Error(`honest.t answered ${textOf(heard).slice(0, 500)}`);
  }

  async function named(segment: string): Promise<string[]> {
    const { message } = await ask(place, "tools/list", {}, { signal: AbortSignal.timeout(10_000) });
    const names = message.result.tools.map(({ name }: Message) => name);
    return names.filter((name: string) => name.startsWith(`${segment}.`));
  }

  async function check(findings: Pick<Findings, "denials">): Promise<void> {
    await oracle.check(findings);
    const listed = await named("honest");
    if (listed.join() !== "honest.t") throw new Error(`honest lists [${listed.join()}]`);
    await callHonest();
    const calls = honest.asked.filter(({ method }) => method === "tools/call").length;
    honest.asked.length = 0;
    if (calls !== 1) throw new Error(`honest was called ${calls} times`);
    if (honest.socket.readyState !== honest.socket.OPEN) throw new Error("honest was thrown out");
  }

  return {
    oracle,
    place,
    aggregatorId: honest.answer.aggregator_id,
    sessionId: honest.session,
    subserverId,
    stranger,
    member,
    named,
    check,
    async settled() {
      // Of what was cut just now some is still read, and refused.
      await expect.poll(() => check({}).then(() => "quiet", String)).toBe("quiet");
      // What was just cut is let go of by both sides, in a moment.
      await expect.poll(() => attempt(() => oracle.checkMemory())).toBe("quiet");
    },
    async stop() {
      // What they have kept is the test's memory, not the server's.
      for (const one of registrants.splice(0)) {
        one.cut();
        one.asked.length = 0;
      }
      await oracle.stop();
    },
  };
}

function attempt(check: () => void): string {
  try {
    check();
    return "quiet";
  } catch (error) {
    return String(error);
  }
}
