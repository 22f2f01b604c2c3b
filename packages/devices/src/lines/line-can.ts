// A line over a CAN bus: ISO-TP to one node of it. What is written and heard are whole packets. [AX-8.1-4]
import { createIsoTpReader, encodeIsoTp, type FlowControl, readFlowControl } from "../framing/iso-tp.ts";
import type { CanBus, OpenCanBus } from "./can-bus.ts";
import type { OpenLine } from "./line.ts";

export interface CanAddress {
  bus: OpenCanBus;
  /** 1 to 127: it listens at 0x400 + node and sends at 0x500 + node. */
  node: number;
}

/** For a flow control, and for the next consecutive frame. */
const waitMs = 1_000;
const waitsMax = 8;
const packetsWaitingMax = 16;

export function canLine({ bus: openBus, node }: CanAddress): OpenLine {
  if (!Number.isInteger(node) || node < 1 || node > 127) throw new RangeError("a node is 1 to 127");
  const [toStub, fromStub] = [0x400 + node, 0x500 + node];
  return async (taker) => {
    let bus: CanBus | undefined;
    let isOver = false;
    const flows = createFlows();
    let forgetTimer: NodeJS.Timeout | undefined;
    const send = (data: Uint8Array) => {
      try {
        return bus?.send({ id: toStub, data }) ?? false;
      } catch (error) {
        lose((error as Error).message);
        return false;
      }
    };
    const reader = createIsoTpReader({
      // A caller that waits for the packet sends its request again; the line does not report why a packet was damaged.
      dropped: () => clearTimeout(forgetTimer),
      frame: (packet) => {
        clearTimeout(forgetTimer);
        taker.bytes(packet);
      },
      answer: (data) => taker.isLookingOn || send(data),
    });
    const take = (data: Uint8Array) => {
      const flow = readFlowControl(data);
      if (flow !== undefined) return flows.hear(flow);
      clearTimeout(forgetTimer);
      forgetTimer = setTimeout(reader.forget, waitMs);
      reader.take(data);
    };
    const end = () => {
      isOver = true;
      clearTimeout(forgetTimer);
    };
    const lose = (why: string) => {
      if (isOver) return;
      end();
      taker.ended(why);
    };
    bus = await openBus({
      frame: ({ id, data }) => {
        if (id === fromStub && !isOver) take(data);
      },
      ended: lose,
    });
    let sending = Promise.resolve();
    let waiting = 0;
    return {
      write: (packet, isAwaited = () => true) => {
        if (isOver || waiting >= packetsWaitingMax) return false;
        const frames = encodeIsoTp(packet);
        waiting += 1;
        // A packet that the other side does not let through is lost, as on any line.
        sending = sending
          .then(() => sendFrames(frames, { send, flows, isOver: () => isOver || !isAwaited() }))
          .finally(() => {
            waiting -= 1;
          });
        return true;
      },
      close: () => {
        end();
        bus?.close();
      },
    };
  };
}

interface Flows {
  hear(flow: FlowControl): void;
  /** The first since `forget`; `undefined` where none comes in time. */
  next(): Promise<FlowControl | undefined>;
  forget(): void;
}

/** Flow controls may come in one piece with others. */
function createFlows(): Flows {
  let heard: FlowControl[] = [];
  let wake = () => {};
  return {
    hear: (flow) => {
      if (heard.length <= waitsMax) heard.push(flow);
      wake();
    },
    next: async () => {
      if (heard.length === 0) {
        const { promise, resolve } = Promise.withResolvers<void>();
        const timer = setTimeout(resolve, waitMs);
        wake = resolve;
        await promise;
        clearTimeout(timer);
      }
      return heard.shift();
    },
    forget: () => {
      heard = [];
    },
  };
}

interface Sending {
  send(frame: Uint8Array): boolean;
  flows: Flows;
  /** The line was closed, or the caller no longer waits. */
  isOver(): boolean;
}

async function sendFrames(frames: readonly Uint8Array[], sending: Sending): Promise<void> {
  const [first, ...rest] = frames as [Uint8Array, ...Uint8Array[]];
  if (sending.isOver()) return;
  sending.flows.forget();
  sending.send(first);
  let at = 0;
  while (at < rest.length) {
    const flow = await goOn(sending);
    if (flow === undefined) return;
    const block = rest.slice(at, flow.blockSize === 0 ? rest.length : at + flow.blockSize);
    at += block.length;
    for (const frame of block) {
      if (sending.isOver()) return;
      sending.send(frame);
      if (flow.separationMs > 0) await new Promise((resolve) => setTimeout(resolve, flow.separationMs));
    }
  }
}

/** What the other side allows; `undefined` where it says no, nothing, or `wait` too often. */
async function goOn({ flows }: Sending): Promise<Extract<FlowControl, { go: "on" }> | undefined> {
  for (let waits = 0; waits <= waitsMax; waits += 1) {
    const flow = await flows.next();
    if (flow?.go === "on") return flow;
    if (flow?.go !== "wait") return undefined;
  }
  return undefined;
}
