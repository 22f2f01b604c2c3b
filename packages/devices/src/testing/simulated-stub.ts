// A stub of profile B that is no chip: its tools, two unless others are given, answered as the wire says, over a TCP
// socket or whatever carries packets.
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { createCobsReader, frameCobs } from "../framing/cobs.ts";
import { sealed, unsealed } from "../framing/crc.ts";
import type { DeviceConfig } from "../gateway/device-config.ts";
import { type CborMap, type CborValue, decodeCbor, encodeCbor } from "../wire/cbor.ts";
import { ownMethods, stubTypes } from "../wire/message.ts";

/** A packet's answer; `undefined` where it has none. */
export type AnswerPacket = (packet: Uint8Array) => Uint8Array | undefined;

const packetMax = 1_024;
const toolIds = { add: 1, echo: 2 };

interface SimulatedTool {
  readonly argumentTypes: readonly number[];
  /** Arguments and results by position. */
  run(args: CborMap): readonly CborValue[];
}

export interface SimulatedDevice {
  readonly serial: string;
  /** By tool id. */
  readonly tools: ReadonlyMap<number, SimulatedTool>;
}

const addAndEcho: SimulatedDevice = {
  serial: "sim",
  tools: new Map<number, SimulatedTool>([
    [
      toolIds.add,
      {
        argumentTypes: [stubTypes.uint, stubTypes.uint],
        run: (args) => [Number(args.get(0)) + Number(args.get(1))],
      },
    ],
    [toolIds.echo, { argumentTypes: [stubTypes.text], run: (args) => [args.get(0) as CborValue] }],
  ]),
};

function registrationOf({ serial, tools }: SimulatedDevice): CborMap {
  const types = [...tools].map(
    ([id, { argumentTypes }]) => [id, Uint8Array.of(stubTypes.map, ...argumentTypes)] as const,
  );
  return new Map<number, CborValue>([
    [0, 1],
    [1, Buffer.from(serial)],
    [2, packetMax],
    [4, new Map<number, CborValue>(types)],
  ]);
}

/** What it says when it boots. */
const announcement = sealed(
  encodeCbor(
    new Map<number, CborValue>([
      [1, ownMethods.register],
      [3, registrationOf(addAndEcho)],
    ]),
  ),
);

export function answerPackets(device: SimulatedDevice = addAndEcho): AnswerPacket {
  const run = (method: number, args: CborMap): CborMap =>
    method === ownMethods.register
      ? registrationOf(device)
      : new Map((device.tools.get(method)?.run(args) ?? []).entries());
  return (packet) => {
    const bytes = unsealed(packet);
    const message = bytes && decodeCbor(bytes);
    if (!(message instanceof Map)) return undefined;
    const [method, id, args = new Map()] = [message.get(1), message.get(2), message.get(3)];
    const result = run(Number(method), args as CborMap);
    return sealed(
      encodeCbor(
        new Map<number, CborValue>([
          [2, Number(id)],
          [4, result],
        ]),
      ),
    );
  };
}

/** As a gateway's configuration describes it. */
export function simulatedConfig(segment: string, more: Partial<DeviceConfig> = {}): DeviceConfig {
  const capability = {
    mutable: false,
    reversible: true,
    idempotent: true,
    auth_scope: "read",
    latency_class: "fast",
  } as const;
  const number = (name: string) => ({ name, type: "uint" }) as const;
  return {
    segment,
    profile: "b",
    tools: [
      {
        id: toolIds.add,
        name: "add",
        arguments: [number("a"), number("b")],
        result: [number("sum")],
        capability,
      },
      {
        id: toolIds.echo,
        name: "echo",
        arguments: [{ name: "text", type: "text" }],
        result: [{ name: "text", type: "text" }],
        capability,
      },
    ],
    ...more,
  };
}

export interface SimulatedStub extends AsyncDisposable {
  readonly port: number;
  /** Every packet, in the order in which they came. */
  readonly heard: readonly Uint8Array[];
  /** Hears and does not answer. */
  isSilent: boolean;
  /** Begins anew: what it was asked before is forgotten. */
  restart(): void;
}

export async function startSimulatedStub(): Promise<SimulatedStub> {
  const answer = answerPackets();
  const sockets = new Set<Socket>();
  const heard: Uint8Array[] = [];
  const server = createServer((socket) => {
    sockets.add(socket.setNoDelay(true));
    const read = createCobsReader({
      dropped: () => {},
      frame: (packet) => {
        heard.push(packet);
        const said = stub.isSilent ? undefined : answer(packet);
        if (said !== undefined) socket.write(frameCobs(said));
      },
    });
    socket.on("data", read);
    // A client that resets the socket has left too.
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const stub: SimulatedStub = {
    port: (server.address() as { port: number }).port,
    heard,
    isSilent: false,
    restart: () => {
      for (const socket of sockets) socket.write(frameCobs(announcement));
    },
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
  return stub;
}
