// Writes frames to a WebSocket as fast as they are taken: of a member of a room, or of a server that registered.
import type { Socket } from "node:net";
import WebSocket from "ws";
import { register } from "../registrant.ts";
import type { Going, Verb } from "./attack.ts";
import { credentialOf, tokenOf } from "./request-bytes.ts";

const againMs = 100;
/** Short frames go out many at a time. */
const blockBytes = 65_536;

export function frame(opcode: number, payload: string | Buffer, isFinal = true): Buffer {
  const bytes = Buffer.from(payload);
  const head = [opcode | (isFinal ? 0x80 : 0)];
  if (bytes.length < 126) head.push(0x80 | bytes.length);
  else if (bytes.length < 65_536) head.push(0xfe, bytes.length >> 8, bytes.length & 0xff);
  else head.push(0xff, 0, 0, 0, 0, ...[24, 16, 8, 0].map((bits) => (bytes.length >> bits) & 0xff));
  // A mask of zeros is a mask, and costs nothing.
  return Buffer.concat([Buffer.from([...head, 0, 0, 0, 0]), bytes]);
}

export async function writeFrames(verb: Verb & { way: "frames" }, going: Going): Promise<void> {
  const one = verb.frames(going.attack.bytes);
  const count = Math.max(1, Math.floor(blockBytes / one.length));
  const block = Buffer.concat(Array.from({ length: count }, () => one));
  for (let lane = 0; lane < going.attack.concurrency; lane += 1)
    void goOn(verb, lane, { block, count }, going);
}

async function goOn(
  verb: Verb & { way: "frames" },
  lane: number,
  { block, count }: { block: Buffer; count: number },
  going: Going,
): Promise<void> {
  const { tally, signal } = going;
  while (!signal.aborted) {
    try {
      const socket = await (verb.at === "ax" ? registered(going) : joined(verb.topic, lane, going));
      const raw = (socket as unknown as { _socket: Socket })._socket;
      const end = new Promise<void>((resolve) => socket.on("close", resolve));
      const write = () => {
        while (!signal.aborted && raw.writable) {
          tally.send(block.length, count);
          if (!raw.write(block)) return;
        }
      };
      raw.on("drain", write);
      signal.addEventListener("abort", () => socket.terminate());
      socket.on("error", () => {});
      socket.on("close", (code) => tally.answer(`close ${code}`));
      socket.on("pong", () => tally.answer("pong"));
      socket.on("message", (data) => tally.answer(wordOf(String(data))));
      write();
      await end;
    } catch (error) {
      tally.answer((error as Error).message);
    }
    await new Promise((resolve) => setTimeout(resolve, againMs));
  }
}

async function registered({ target, attack }: Going): Promise<WebSocket> {
  const tools = JSON.stringify([{ name: "t", inputSchema: { type: "object" } }]);
  const token = tokenOf(target, attack.as);
  const { socket } = await register({ url: target.url, token, segment: "evil", tools, heartbeatMs: 0 });
  return socket;
}

function joined(topic: string | undefined, lane: number, { target, attack }: Going): Promise<WebSocket> {
  const path = `/v0/ws?topic=${topic ?? `lab/frames-${lane}`}`;
  const headers = credentialOf(target, attack.as);
  const socket = new WebSocket(`${target.url.replace("http", "ws")}${path}`, {
    headers,
    perMessageDeflate: false,
  });
  return new Promise((resolve, reject) => {
    socket.once("message", () => resolve(socket));
    socket.once("error", reject);
  });
}

/** The reason of an error, or the event's name. */
function wordOf(text: string): string {
  const [, word] = /"reason":"([a-z_]+)"/.exec(text) ?? /"event":"([a-z_]+)"/.exec(text) ?? [];
  return word ?? "message";
}
