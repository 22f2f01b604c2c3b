// CAN frames as text over a serial line, as most USB adapters speak it (SLCAN, of Lawicel). Only data frames with
// identifiers of 11 bits; everything else that an adapter may say is skipped. [AX-8.1-4]
import type { FrameReader } from "./framing.ts";

export interface CanFrame {
  id: number;
  /** At most 8. */
  data: Uint8Array;
}

const carriageReturn = 0x0d;
const bell = 0x07;
/** The longest is `t`, identifier, length, 8 bytes, and a time of 4 digits. */
const lineCharsMax = 32;

export function encodeSlcan({ id, data }: CanFrame): Uint8Array {
  const head = `t${id.toString(16).padStart(3, "0")}${data.length}`;
  return Buffer.from(`${head}${Buffer.from(data).toString("hex")}\r`.toUpperCase().replace("T", "t"));
}

/** `bitrate` in bits a second; throws where an adapter has no word for it. */
export function slcanOpening(bitrate: number): Uint8Array {
  const at = bitrates.indexOf(bitrate);
  if (at === -1) throw new RangeError(`a bitrate is one of ${bitrates.join(", ")}`);
  // Closed first: one that is open takes no bitrate. The first end of line ends what was half said.
  return Buffer.from(`\rC\rS${at}\rO\r`);
}

export const slcanClosing: Uint8Array = Buffer.from("C\r");

/** By the digit that stands for them. */
const bitrates: readonly number[] = [
  10_000, 20_000, 50_000, 100_000, 125_000, 250_000, 500_000, 800_000, 1_000_000,
];

export function createSlcanReader(taker: {
  frame(frame: CanFrame): void;
  dropped(why: string): void;
}): FrameReader {
  let line = "";
  const finish = () => {
    const text = line;
    line = "";
    // `z` and `Z` answer what was sent, others our own commands.
    if (!text.startsWith("t")) return;
    const frame = readFrame(text);
    if (frame === undefined) taker.dropped("a line that is not a CAN frame");
    else taker.frame(frame);
  };
  return (bytes) => {
    for (const byte of bytes) {
      if (byte === carriageReturn) finish();
      // Said without an end of line: a command was refused.
      else if (byte === bell) line = "";
      else if (line.length < lineCharsMax) line += String.fromCharCode(byte);
    }
  };
}

function readFrame(text: string): CanFrame | undefined {
  const read = /^t([0-7][0-9A-Fa-f]{2})([0-8])((?:[0-9A-Fa-f]{2})*)$/.exec(text);
  if (read === null) return undefined;
  const [, id = "", length = "", digits = ""] = read;
  const data = Uint8Array.from(Buffer.from(digits, "hex"));
  // Where the adapter adds the time, two more bytes follow.
  const count = Number(length);
  if (data.length !== count && data.length !== count + 2) return undefined;
  return { id: Number.parseInt(id, 16), data: data.subarray(0, count) };
}
