import fc from "fast-check";
import { expect, test } from "vitest";
import { blockLength, IdHashes } from "./id-hashes.ts";

const seqsOf = (hashes: IdHashes, hash: number) => {
  const seen: number[] = [];
  hashes.find(hash, (seq) => void seen.push(seq));
  return seen;
};

test("[X0-4-3] every kept seq with a hash is looked at, however many share it", () => {
  const few = fc.constantFrom(0, 1, 2, 3, 2 ** 31, 2 ** 32 - 1);
  const steps = fc.array(fc.record({ hash: few, trimmed: fc.nat(3) }), { maxLength: 300 });
  fc.assert(
    fc.property(steps, fc.nat(5_000), (added, before) => {
      let first = before + 1;
      const hashes = new IdHashes(() => first);
      added.forEach(({ hash, trimmed }, index) => {
        hashes.add(before + 1 + index, hash);
        first = Math.min(first + trimmed, before + 2 + index);
      });
      for (const hash of new Set(added.map((each) => each.hash))) {
        const kept = added.flatMap((each, index) => (each.hash === hash ? [before + 1 + index] : []));
        const seen = seqsOf(hashes, hash).filter((seq) => seq >= first);
        expect(seen.toSorted((a, b) => a - b)).toEqual(kept.filter((seq) => seq >= first));
      }
    }),
  );
});

test("nothing is found where nothing is", () => {
  expect(seqsOf(new IdHashes(() => 1), 7)).toEqual([]);
});

test("what was trimmed leaves when room is needed, so that memory follows what is kept", () => {
  let first = 1;
  const hashes = new IdHashes(() => first);
  for (let seq = 1; seq <= 100_000; seq += 1) {
    hashes.add(seq, seq * 7_919);
    first = Math.max(1, seq - 99);
  }
  expect(hashes.bytes).toBeLessThan(10_000);
  expect(seqsOf(hashes, 99_950 * 7_919)).toEqual([99_950]);
});

test("[X0-4-3] hashes that come in blocks are found as if they had come one by one", () => {
  const all = Array.from({ length: 3 * blockLength }, (_, index) => (index * 2_654_435_761) >>> 0);
  const first = 5;
  const alone = new IdHashes(() => first);
  all.forEach((hash, index) => {
    alone.add(index + 1, hash);
  });
  const blocks = new IdHashes(() => first);
  // Some of the second block are known before it comes.
  blocks.addBlock(blockLength, alone.block(blockLength));
  for (let seq = blockLength + 1; seq < blockLength + 9; seq += 1) blocks.add(seq, all[seq - 1] as number);
  for (const end of [2 * blockLength, 3 * blockLength]) blocks.addBlock(end, alone.block(end));
  blocks.addBlock(2 * blockLength, alone.block(2 * blockLength));
  expect(blocks.last).toBe(alone.last);
  expect(all.map((hash) => seqsOf(blocks, hash))).toEqual(all.map((hash) => seqsOf(alone, hash)));
  expect(seqsOf(blocks, all[first - 1] as number)).toEqual([first]);
});

test("[X0-4-3] blocks and single hashes that come after a trim has passed what was known are found from its end on", () => {
  const ends = [1, 2, 3, 4, 5, 6].map((n) => n * blockLength);
  const hashOf = (seq: number) => (seq * 2_654_435_761) >>> 0;
  const whole = new IdHashes(() => 1);
  for (let seq = 1; seq <= 6 * blockLength; seq += 1) whole.add(seq, hashOf(seq));
  for (const [known, kept] of [
    [1_000, 4_000],
    [1_000, 4_097],
    [0, 6_144],
    [5_000, 5_500],
  ] as const) {
    let first = 1;
    const hashes = new IdHashes(() => first);
    for (let seq = 1; seq <= known; seq += 1) hashes.add(seq, hashOf(seq));
    first = kept;
    for (const end of ends) hashes.addBlock(end, whole.block(end));
    hashes.add(6 * blockLength + 1, hashOf(6 * blockLength + 1));
    for (let seq = kept; seq <= 6 * blockLength + 1; seq += 1) {
      expect(seqsOf(hashes, hashOf(seq))).toEqual([seq]);
    }
    expect(hashes.last).toBe(6 * blockLength + 1);
  }
});

test("a block holds the hashes of its seqs, and nothing for those before the first", () => {
  const hashes = new IdHashes(() => 3);
  for (let seq = 3; seq <= blockLength; seq += 1) hashes.add(seq, 2 ** 32 - seq);
  const block = hashes.block(blockLength);
  expect(block.length).toBe(4 * blockLength);
  expect([0, 1, 2, blockLength - 1].map((n) => block.readUInt32LE(4 * n))).toEqual([
    0,
    0,
    2 ** 32 - 3,
    2 ** 32 - blockLength,
  ]);
});
