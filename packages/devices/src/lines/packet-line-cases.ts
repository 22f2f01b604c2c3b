// What holds on every line that hands over whole packets, whatever carries them: each runs these cases with a
// simulated stub at its other end.
import { expect, test } from "vitest";
import type { Fault, PacketStub } from "../testing/packet-stub.ts";
import { decodePacket, encodeRequest } from "../wire/message.ts";
import type { Line, OpenLine } from "./line.ts";

export interface PacketLineRig extends AsyncDisposable {
  readonly open: OpenLine;
  readonly stub: Pick<PacketStub, "fault">;
  /** The line goes away while it is in use. */
  lose(): void;
  /** It can be opened again. */
  mend(): void;
}

const echo = 2;
const answerMs = 3_000;
const faultMs = 100;

interface OpenedLine {
  line: Line;
  ends: string[];
  /** What is echoed; `undefined` where nothing is in time. */
  ask(text: string, timeoutMs?: number): Promise<unknown>;
}

async function openLine({ open }: PacketLineRig): Promise<OpenedLine> {
  const ends: string[] = [];
  const waiting = new Map<number, (text: unknown) => void>();
  let id = 0;
  const line = await open({
    bytes: (bytes) => {
      const message = decodePacket(bytes);
      if (message?.kind === "result")
        waiting.get(message.id)?.((message.result as Map<number, unknown>).get(0));
    },
    ended: (why) => ends.push(why),
  });
  const ask = async (text: string, timeoutMs = answerMs) => {
    id += 1;
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const timer = setTimeout(resolve, timeoutMs, undefined);
    waiting.set(id, resolve);
    expect(line.write(encodeRequest(echo, id, [text]))).toBe(true);
    return promise.finally(() => clearTimeout(timer));
  };
  return { line, ends, ask };
}

export function packetLineCases(name: string, start: () => Promise<PacketLineRig>): void {
  test(`${name}: short packets and long ones come through, in either direction`, async () => {
    await using rig = await start();
    const { line, ask } = await openLine(rig);
    for (const length of [0, 1, 4, 40, 300, 980]) {
      const text = "ab".repeat(length).slice(0, length);
      expect(await ask(text)).toBe(text);
    }
    line.close();
  });

  test.each(["half", "noise", "silence"] satisfies Fault[])(
    `${name}: after %s instead of an answer, the next one is heard`,
    async (fault) => {
      await using rig = await start();
      const { line, ask, ends } = await openLine(rig);
      const long = "x".repeat(100);
      // Control: the same question, without the fault.
      expect(await ask(long)).toBe(long);
      rig.stub.fault = fault;
      const spoilt = await ask(long, faultMs);
      if (fault !== "noise") expect(spoilt).toBeUndefined();
      await expect.poll(() => rig.stub.fault).toBeUndefined();
      expect(await ask(long)).toBe(long);
      expect(ends).toEqual([]);
      line.close();
    },
  );

  test(`${name}: its end is told once, nothing is written after it, and it can be opened again`, async () => {
    await using rig = await start();
    const first = await openLine(rig);
    expect(await first.ask("before")).toBe("before");
    rig.lose();
    await expect.poll(() => first.ends, { timeout: 5_000 }).toHaveLength(1);
    expect(first.ends[0]).not.toBe("");
    expect(first.line.write(encodeRequest(echo, 9, ["late"]))).toBe(false);
    first.line.close();
    rig.mend();
    const second = await openLine(rig);
    expect(await second.ask("after")).toBe("after");
    second.line.close();
    expect(first.ends).toHaveLength(1);
  });

  test(`${name}: one that we close ourselves says nothing more`, async () => {
    await using rig = await start();
    const first = await openLine(rig);
    expect(await first.ask("before")).toBe("before");
    first.line.close();
    first.line.close();
    expect(first.line.write(encodeRequest(echo, 9, ["late"]))).toBe(false);
    const second = await openLine(rig);
    expect(await second.ask("after")).toBe("after");
    second.line.close();
    expect(first.ends).toEqual([]);
  });
}
