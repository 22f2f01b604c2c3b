// The vectors of spec/vectors/devices as questions to a codec: an operation, what it is given, what it must say.
import { readFileSync } from "node:fs";
import { join } from "node:path";

// biome-ignore lint/suspicious/noExplicitAny: each file of vectors has a shape of its own
type Vectors = any;

export interface Question {
  /** The vector's own name, or its bytes. */
  name: string;
  op: string;
  input: unknown;
  /** `refused` where the input must not be taken. */
  expected: { value: unknown } | { refused: true };
}

export interface VectorFile {
  file: string;
  ids: readonly string[];
  title: string;
  /** By the sections of the file. */
  questions: Readonly<Record<string, (vector: Vectors) => Question[]>>;
}

const value = (value: unknown) => ({ value });
const refused = { refused: true } as const;

const roundTrip = (codec: string, plain: string, encoded: string) => (vector: Vectors) => [
  ask(vector, `${codec}.encode`, vector[plain], value(vector[encoded])),
  ask(vector, `${codec}.decode`, vector[encoded], value(vector[plain])),
];

function ask(vector: Vectors, op: string, input: unknown, expected: Question["expected"]): Question {
  return { name: vector.name ?? JSON.stringify(input), op, input, expected };
}

const messages = (codec: string, wire: "packet" | "json" | "frame") => (vector: Vectors) =>
  vector.means.kind === "call"
    ? [ask(vector, `${codec}.encode`, vector.means, value(vector[wire]))]
    : [ask(vector, `${codec}.decode`, vector[wire], value(vector.means))];

/** What only a stub can be asked stands in the files too. */
const ofStubs = () => [];

export const vectorFiles: readonly VectorFile[] = [
  {
    file: "crc",
    ids: ["AX-B-1"],
    title: "CRC-16 and CRC-8",
    questions: {
      cases: (vector) => ["crc16", "crc8"].map((op) => ask(vector, op, vector.data, value(vector[op]))),
    },
  },
  {
    file: "cobs",
    ids: ["AX-8.1-1"],
    title: "COBS frames",
    questions: {
      cases: roundTrip("cobs", "data", "encoded"),
      refused: (vector) => [ask(vector, "cobs.decode", vector.encoded, refused)],
      streams: (vector) => [ask(vector, "cobs.read", vector.stream, value(vector.frames))],
    },
  },
  {
    file: "profile-a",
    ids: ["AX-B-1"],
    title: "Frames of profile A",
    questions: {
      frames: (vector) => {
        const { type, tool, seq, payload } = vector;
        return ([16, 8] as const).flatMap((crc) => {
          const encoded = vector[`crc${crc}`];
          return [
            ask(vector, "frame-a.encode", { type, tool, seq, payload, crc }, value(encoded)),
            ask(vector, "frame-a.read", { stream: encoded, crc }, value([encoded])),
          ];
        });
      },
      streams: (vector) => [
        ask(vector, "frame-a.read", { stream: vector.stream, crc: 16 }, value(vector.frames)),
      ],
      settled: (vector) => [
        ask(vector, "frame-a.settle", { stream: vector.stream, crc: 16 }, value(vector.frames)),
      ],
      exchanges: ofStubs,
      large: ofStubs,
    },
  },
  {
    file: "spi",
    ids: ["AX-8.1-3"],
    title: "Length prefixes",
    questions: {
      cases: (vector) => [ask(vector, "length-prefix.encode", vector.packet, value(vector.encoded))],
      streams: (vector) => [ask(vector, "length-prefix.read", vector.stream, value(vector.packets))],
    },
  },
  {
    file: "iso-tp",
    ids: ["AX-8.1-4"],
    title: "ISO-TP over CAN",
    questions: {
      cases: (vector) => [ask(vector, "iso-tp.encode", vector.packet, value(vector.frames))],
      received: ({ frames, packets, flow, ...vector }) => [
        ask(vector, "iso-tp.receive", frames, value({ packets, flow })),
      ],
    },
  },
  {
    file: "gatt",
    ids: ["AX-8.1-2"],
    title: "GATT chunks",
    questions: {
      cases: ({ packet, chunkMax, chunks, ...vector }) => [
        ask(vector, "gatt.encode", { packet, chunkMax }, value(chunks)),
        ask(vector, "gatt.receive", chunks, value([packet])),
      ],
      received: (vector) => [ask(vector, "gatt.receive", vector.chunks, value(vector.packets))],
    },
  },
  {
    file: "cbor",
    ids: ["AX-8.2-1"],
    title: "CBOR, only as it may be written",
    questions: {
      accepted: roundTrip("cbor", "value", "cbor"),
      refused: (vector) => [ask(vector, "cbor.decode", vector.cbor, refused)],
    },
  },
  {
    file: "profile-b",
    ids: ["AX-8.2-1", "AX-8.3-2", "AX-B-5"],
    title: "Messages and packets of profile B",
    questions: {
      messages: messages("message", "packet"),
      refused: (vector) => [ask(vector, "message.decode", vector.packet, refused)],
      framed: messages("framed", "frame"),
      framedRefused: (vector) => [ask(vector, "framed.decode", vector.frame, refused)],
      exchanges: ofStubs,
      probed: ofStubs,
    },
  },
  {
    file: "mqtt",
    ids: ["AX-8.1-5"],
    title: "Messages in JSON",
    questions: {
      messages: messages("json", "json"),
      refused: (vector) => [ask(vector, "json.decode", vector.text, refused)],
    },
  },
];

export function readVectors(folder: string, file: string): Vectors {
  return JSON.parse(readFileSync(join(folder, `${file}.json`), "utf8"));
}

/** Every section of the file has its questions; one that nobody asks about is a fault of the kit. */
export function questionsOf(folder: string, { file, questions }: VectorFile): Question[] {
  const { about: _, ...sections } = readVectors(folder, file);
  return Object.entries(sections).flatMap(([section, vectors]) => {
    const questionsFor = questions[section];
    if (questionsFor === undefined)
      throw new Error(`${file}.json has a section ${section} that is never asked`);
    return (vectors as Vectors[]).flatMap(questionsFor);
  });
}
