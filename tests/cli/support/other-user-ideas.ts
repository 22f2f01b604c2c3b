// What an agent with a shell tries where the gateway runs as another user: the ideas of docs/THREATS.md that need more than
// the gateway's address. Each is tried with what it needs first; its control is the service's own user.
import { once } from "node:events";
import { createServer } from "node:net";
import { expect } from "vitest";

export interface Beside {
  data: string;
  /** Of the gateway. */
  pid: number;
  url: string;
  /** The agent's own. */
  token: string;
  /** The call that waits. */
  id: string;
  /** Whether it worked, as the agent's user. */
  shell(script: string): boolean;
  mcpx(...args: string[]): Promise<boolean>;
}

type Idea = (beside: Beside) => Promise<boolean> | boolean;

const writes =
  (file: string): Idea =>
  ({ data, shell }) =>
    shell(`: >>${data}/${file}`);
/** Every command here begins with the keys and the proof that are in the store. */
const reads: Idea = ({ data, shell }) => shell(`cat ${data}/state.db`);
const runs =
  (...args: string[]): Idea =>
  ({ mcpx }) =>
    mcpx(...args);

async function reaches({ url, token }: Beside, path: string, body: object): Promise<boolean> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const answer = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  return answer.status < 400;
}

export const otherUserIdeas: Record<string, Idea> = {
  "approve with the command, which has no key": ({ mcpx, id }) => mcpx("approve", id, "--yes"),
  "enrol itself with the command": runs("key", "enroll", "mallory", "--unsealed"),
  "write its key over the approver's file": writes("approvers/alice.json"),
  "put a link in place of the approver's file": ({ data, shell }) =>
    shell(`ln -sfn /tmp ${data}/approvers/alice.json`),
  "remove the approver's file, so that it is the first": ({ data, shell }) =>
    shell(`rm ${data}/approvers/alice.json`),
  "name its key as an anchor in the configuration": writes("mcpx.json"),
  "write a rule that allows everything": writes("mcpx.json"),
  "let through what says nothing of itself": writes("mcpx.json"),
  "say in the configuration that the tool is harmless": writes("mcpx.json"),
  "give the tool another name": writes("mcpx.json"),
  "put another program under a trusted name": writes("mcpx.json"),
  "sign the configuration with its own key": reads,
  "end panic, with the data directory's proof": runs("panic", "off"),
  "allow itself calls beforehand": reads,
  "decide over HTTP with a proof of its own key": (beside) =>
    reaches(beside, `/approve/${beside.id}/decision`, { proof: "e30.e30.e30" }),
  "decide over HTTP without any": (beside) => reaches(beside, `/admin/gates/${beside.id}/decision`, {}),
  "mint a token in the approver's name": runs("token", "--id", "alice", "--admin"),
  "invite itself by a link for a passkey": (beside) =>
    reaches(beside, "/admin/approvers/enrolments", { name: "mallet" }),
  "log in at the console and enrol the browser's key": reads,
  "mark the call as approved in the store": writes("state.db"),
  "append an entry of its own to the chain": writes("state.db"),
  "start a second gateway on the same data": reads,
  "put all approvers out while the gateway runs": reads,
  "call past the gateway's rooms, over mcpx call": reads,
  "listen on the gateway's port beside it": async ({ url }) => {
    const server = createServer();
    server.listen(Number(new URL(url).port), "127.0.0.1");
    const [error] = (await once(server, "error")) as [NodeJS.ErrnoException];
    return error.code !== "EADDRINUSE";
  },
  "look for the approver's key in the gateway's memory": ({ pid, shell }) => shell(`exec 3</proc/${pid}/mem`),
  "attach a debugger to the gateway and change it": ({ pid, shell }) =>
    shell(`cat /proc/${pid}/environ`) || shell(`kill -0 ${pid}`),
};

export async function tryAll(beside: Beside): Promise<void> {
  for (const [idea, work] of Object.entries(otherUserIdeas)) expect(await work(beside), idea).toBe(false);
}
