// Valid bytes to begin with: the vectors, which the C cores pass too, and what our own encoders make of a few models.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { frameCobs } from "../../framing/cobs.ts";
import { packetBytesMax } from "../../framing/framing.ts";
import { encodeGatt } from "../../framing/gatt.ts";
import { encodeIsoTp } from "../../framing/iso-tp.ts";
import { encodeLengthPrefix } from "../../framing/length-prefix.ts";

// biome-ignore lint/suspicious/noExplicitAny: each file of vectors has a shape of its own
function vectors(name: string): any {
  const folder = join(import.meta.dirname, "..", "..", "..", "..", "..", "spec", "vectors", "devices");
  return JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8"));
}

const bytesOf = (hex: string) => new Uint8Array(Buffer.from(hex, "hex"));

const [cobs, spi, isoTp, gatt, profileA, profileB, mqtt, cbor] = [
  ...["cobs", "spi", "iso-tp", "gatt", "profile-a", "profile-b", "mqtt", "cbor"],
].map(vectors);

interface Exchange {
  hears: string[];
  answers: string | string[];
}

const said = (exchanges: Exchange[]) => exchanges.flatMap(({ hears, answers }) => [...hears, answers].flat());

/** Pieces as one run of bytes, each with its length before it: a mutation may lie about that too. */
export function joinPieces(pieces: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(pieces.flatMap((piece) => [piece.length, ...piece]));
}

/** Whatever the bytes are, they are pieces. */
export function splitPieces(bytes: Uint8Array): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + 1 + (bytes[at] as number);
    pieces.push(bytes.slice(at + 1, end));
    at = end;
  }
  return pieces;
}

/** Of more bytes than a packet may have, and otherwise as it should be. */
function tooLong(): Uint8Array {
  const frames = encodeIsoTp(new Uint8Array(packetBytesMax));
  const [first, last] = [frames[0], frames.at(-1)] as [Uint8Array, Uint8Array];
  first[1] = packetBytesMax - ((packetBytesMax >> 8) << 8) + 7;
  frames.push(
    Uint8Array.of((last[0] as number) === 0x2f ? 0x20 : (last[0] as number) + 1, ...last.subarray(1)),
  );
  return joinPieces(frames);
}

const pieceSeeds = (lists: string[][]) => lists.map((list) => joinPieces(list.map(bytesOf)));

// biome-ignore lint/suspicious/noExplicitAny: any JSON
const field = (list: any[], name: string) => list.map((one) => one[name]);

/** Packets of profile B without their CRC. */
const messages = [
  ...field([...profileB.messages, ...profileB.refused], "packet"),
  ...said([...profileB.exchanges, ...profileB.probed]),
]
  .map(bytesOf)
  .filter(({ length }) => length > 2)
  .map((packet) => packet.subarray(0, -2));

/** As long as a packet may be: a mutation makes it longer. */
const longest = [0, 0x11].map((byte) => new Uint8Array(packetBytesMax).fill(byte));

export const seeds = {
  cobs: [
    ...field(cobs.cases, "encoded").map((one) => bytesOf(`00${one}00`)),
    ...field(cobs.streams, "stream").map(bytesOf),
    ...longest.map(frameCobs),
  ],
  lengthPrefix: [
    ...[...field(spi.cases, "encoded"), ...field(spi.streams, "stream")].map(bytesOf),
    ...longest.map(encodeLengthPrefix),
  ],
  isoTp: [
    ...pieceSeeds([...field(isoTp.cases, "frames"), ...field(isoTp.received, "frames")]),
    ...longest.map((packet) => joinPieces(encodeIsoTp(packet))),
    tooLong(),
  ],
  gatt: [
    ...pieceSeeds([...field(gatt.cases, "chunks"), ...field(gatt.received, "chunks")]),
    ...longest.map((packet) => joinPieces(encodeGatt(packet, 182))),
  ],
  frameA16: [
    ...field(profileA.frames, "crc16"),
    ...field(profileA.streams, "stream"),
    ...said(profileA.exchanges),
  ].map(bytesOf),
  frameA8: field(profileA.frames, "crc8").map(bytesOf),
  /** TYPE to PAYLOAD. */
  bodyA: field(profileA.frames, "crc16")
    .map(bytesOf)
    .filter(({ length }) => length < 130)
    .map((frame) => frame.subarray(2, -2)),
  messages,
  cbor: [...messages, ...field([...cbor.accepted, ...cbor.refused], "cbor").map(bytesOf)],
  json: [
    ...field(mqtt.messages, "json").map((one) => JSON.stringify(one)),
    ...field(mqtt.refused, "text"),
    '{"id":1,"result":{"0":1,"1":"ZGVtbw==","2":1024,"4":{"1":"BQ==","2":"BQA="}}}',
    '{"jsonrpc":"2.0","id":65535,"error":{"0":130,"1":"the lid is open"}}',
    `{"id":1,"result":{"0":"${"ü".repeat(2_000)}"}}`,
  ].map((text) => new Uint8Array(Buffer.from(String(text)))),
  slcan: ["t405303A2FF\r", "\r\rz\rt5051AB\r\u0007t5051CD12F0\rV1013\r", "t50588877665544332211\r"].map(
    (text) => new Uint8Array(Buffer.from(text)),
  ),
} satisfies Record<string, readonly Uint8Array[]>;
