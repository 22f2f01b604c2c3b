import { expect, test } from "vitest";
import { encodeIsoTp } from "../framing/iso-tp.ts";
import type { CanBusTaker, OpenCanBus } from "./can-bus.ts";
import { canLine } from "./line-can.ts";

const node = 5;
const fromStub = 0x500 + node;

/** A bus in memory: what is sent is kept. */
function openBus() {
  const sent: Uint8Array[] = [];
  const at: { taker?: CanBusTaker } = {};
  const bus: OpenCanBus = async (taker) => {
    at.taker = taker;
    return { send: ({ data }) => sent.push(data) > 0, close: () => {} };
  };
  const say = (data: Uint8Array) => at.taker?.frame({ id: fromStub, data });
  return { bus, sent, say };
}

const quietly = { bytes: () => {}, ended: () => {} };
const flow = (what: number) => Uint8Array.of(what, 0, 0);

test("[AX-8.1-4] a packet that waited behind another one is not sent once nobody waits for its answer", async () => {
  const { bus, sent, say } = openBus();
  const line = await canLine({ bus, node })(quietly);
  const long = new Uint8Array(30).fill(1);
  const [late, wanted] = [Uint8Array.of(0xde), Uint8Array.of(0xad)];
  let isAwaited = true;
  line.write(long);
  line.write(late, () => isAwaited);
  line.write(wanted, () => true);
  await expect.poll(() => sent).toEqual(encodeIsoTp(long).slice(0, 1));
  isAwaited = false;
  // Too much: the first is over, and the others have their turn.
  say(flow(0x32));
  await expect.poll(() => sent.slice(1)).toEqual(encodeIsoTp(wanted));
  line.close();
});

test("[AX-8.1-4] a packet that is given up is not sent to its end", async () => {
  const { bus, sent, say } = openBus();
  const line = await canLine({ bus, node })(quietly);
  let isAwaited = true;
  const long = new Uint8Array(30).fill(1);
  line.write(long, () => isAwaited);
  await expect.poll(() => sent).toHaveLength(1);
  isAwaited = false;
  say(flow(0x30));
  // Control: the next one is sent whole.
  line.write(long);
  await expect.poll(() => sent).toHaveLength(2);
  say(flow(0x30));
  await expect.poll(() => sent.slice(1)).toEqual(encodeIsoTp(long));
  line.close();
});

test("[AX-8.1-4] whoever looks on sends nothing, and hears a long packet all the same", async () => {
  const packet = Uint8Array.from({ length: 20 }, (_, at) => at);
  for (const isLookingOn of [true, false]) {
    const { bus, sent, say } = openBus();
    const heard: Uint8Array[] = [];
    const line = await canLine({ bus, node })({
      ...quietly,
      isLookingOn,
      bytes: (bytes) => heard.push(bytes),
    });
    for (const frame of encodeIsoTp(packet)) say(frame);
    expect(heard).toEqual([packet]);
    // Control: whoever the packet is for says that it may go on.
    expect(sent).toHaveLength(isLookingOn ? 0 : 1);
    line.close();
  }
});

test("[AX-8.1-4] a bus that throws ends the line, and nothing else", async () => {
  const bus: OpenCanBus = async () => ({
    send: () => {
      throw new Error("Invalid channel!");
    },
    close: () => {},
  });
  const ends: string[] = [];
  const line = await canLine({ bus, node })({ ...quietly, ended: (why) => ends.push(why) });
  expect(line.write(Uint8Array.of(1))).toBe(true);
  await expect.poll(() => ends).toEqual(["Invalid channel!"]);
  expect(line.write(Uint8Array.of(1))).toBe(false);
});
