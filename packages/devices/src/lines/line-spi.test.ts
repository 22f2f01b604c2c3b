import { expect, test } from "vitest";
import { encodeLengthPrefix, idleByte } from "../framing/length-prefix.ts";
import { createSpiStub } from "../testing/spi-stub.ts";
import { decodePacket, encodeRequest } from "../wire/message.ts";
import { spiLine } from "./line-spi.ts";
import type { OpenSpiPort } from "./spi-port.ts";

const portOf =
  (transact: (bytes: Uint8Array) => Uint8Array): OpenSpiPort =>
  async () => ({ transfer: async (bytes) => transact(bytes), close: () => {} });

const quietly = { bytes: () => {}, ended: () => {} };

test("[AX-8.1-3] a stub that is speaking is heard out before it is told something new", async () => {
  const spi = createSpiStub();
  const unasked = Uint8Array.from({ length: 200 }, (_, at) => at);
  spi.say(unasked);
  const heard: Uint8Array[] = [];
  const open = spiLine({ port: portOf(spi.transact) });
  const line = await open({ ...quietly, bytes: (bytes) => heard.push(bytes) });
  expect(line.write(encodeRequest(2, 7, ["hello"]))).toBe(true);
  await expect.poll(() => heard.length).toBe(2);
  expect(heard[0]).toEqual(unasked);
  expect(decodePacket(heard[1] as Uint8Array)).toMatchObject({ kind: "result", id: 7 });
  line.close();
  // Control: told in the middle of it, this stub says the rest of it no more.
  const rude = createSpiStub();
  rude.say(unasked);
  rude.transact(new Uint8Array(32).fill(idleByte));
  rude.transact(Uint8Array.of(0, 1, 0));
  expect(rude.transact(new Uint8Array(200).fill(idleByte)).subarray(0, 8)).not.toEqual(
    unasked.subarray(33, 41),
  );
});

test.each([
  ["quiet", idleByte],
  ["without a board, pulled low", 0],
])("[AX-8.1-3] a bus that is %s is looked at no more often than it should be", async (_, byte) => {
  let transfers = 0;
  const transact = (bytes: Uint8Array) => {
    transfers += 1;
    return new Uint8Array(bytes.length).fill(byte);
  };
  const often = async (pollMs: number) => {
    transfers = 0;
    const line = await spiLine({ port: portOf(transact), pollMs })(quietly);
    await new Promise((resolve) => setTimeout(resolve, 300));
    line.close();
    return transfers;
  };
  expect(await often(100)).toBeLessThanOrEqual(4);
  // Control: it is looked at.
  expect(await often(5)).toBeGreaterThan(4);
});

test("[AX-8.1-3] what waits to be said is bounded", async () => {
  const { promise, resolve } = Promise.withResolvers<Uint8Array>();
  const port: OpenSpiPort = async () => ({ transfer: () => promise, close: () => {} });
  const line = await spiLine({ port })(quietly);
  const written = Array.from({ length: 20 }, () => line.write(Uint8Array.of(1)));
  expect(written.filter((isWritten) => isWritten)).toHaveLength(16);
  line.close();
  resolve(Uint8Array.of(idleByte));
});

test("[AX-8.1-3] what waited behind a slow one is not said once nobody waits for its answer", async () => {
  const said: Uint8Array[] = [];
  const slow = Promise.withResolvers<void>();
  const transfer = async (bytes: Uint8Array) => {
    said.push(Uint8Array.from(bytes));
    await slow.promise;
    return new Uint8Array(bytes.length).fill(idleByte);
  };
  const line = await spiLine({ port: async () => ({ transfer, close: () => {} }) })(quietly);
  let isAwaited = true;
  const [late, wanted] = [Uint8Array.of(0xde), Uint8Array.of(0xad)];
  line.write(late, () => isAwaited);
  line.write(wanted, () => true);
  isAwaited = false;
  slow.resolve();
  const packets = () => said.filter((bytes) => bytes[0] !== idleByte);
  // Control: the other one is.
  await expect.poll(packets).toEqual([encodeLengthPrefix(wanted)]);
  line.close();
});
