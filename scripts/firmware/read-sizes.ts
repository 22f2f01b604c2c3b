// How large a linked image is, part by part, out of the linker's own words: a map (GNU ld) or objects (SDCC).
import type { Sizes } from "./targets.ts";

interface Piece {
  section: string;
  bytes: number;
  file: string;
}

/** The pieces that a GNU linker has placed; what it threw away stands before "Memory Configuration". */
function piecesOf(map: string): Piece[] {
  const placed = map.slice(map.indexOf("Memory Configuration"));
  // A long section name is followed by a line break.
  const joined = placed.replaceAll(/^ (\.[\w.]+)\n {2,}0x/gm, " $1 0x");
  return [...joined.matchAll(/^ (\.[\w.]+) +0x[0-9a-f]+ +0x([0-9a-f]+) (\S+)$/gm)].map((match) => ({
    section: match[1] as string,
    bytes: Number.parseInt(match[2] as string, 16),
    file: match[3] as string,
  }));
}

const sum = (pieces: readonly Piece[]) => pieces.reduce((total, { bytes }) => total + bytes, 0);
const isCode = ({ section }: Piece) => section.startsWith(".text");
const isTable = ({ section }: Piece) => /^\.(rodata|progmem)/.test(section);
const isRam = ({ section }: Piece) => /^\.(data|bss)/.test(section);

/** `core` and `demo` are what the names of their objects end with. */
export function sizesOfMap(map: string, core: string, demo: string): Omit<Sizes, "image"> {
  const pieces = piecesOf(map);
  const ofCore = pieces.filter(({ file }) => file.endsWith(core));
  const ofLibrary = pieces.filter((piece) => piece.file.includes("libgcc.a(") && isCode(piece));
  const ofDemo = pieces.filter(({ file }) => file.endsWith(demo));
  return {
    core: sum(ofCore.filter(isCode)) + sum(ofLibrary),
    tables: sum([...ofCore, ...ofDemo].filter(isTable)),
    ram: sum(ofCore.filter(isRam)),
  };
}

/** Of GNU size: code and constants, and what initialises RAM. */
export function imageOfSize(text: string): number {
  const [code, data] = (text.split("\n")[1] ?? "").trim().split(/\s+/);
  return Number(code) + Number(data);
}

/** The areas of an SDCC object, by name; sizes are hexadecimal. */
function areasOf(rel: string): Map<string, number> {
  return new Map(
    [...rel.matchAll(/^A (\w+) size ([0-9A-F]+) /gm)].map((match) => [
      match[1] as string,
      Number.parseInt(match[2] as string, 16),
    ]),
  );
}

/** Static locals and bits count as RAM too; a bit as a byte. */
export function sizesOfObjects(core: string, demo: string, memory: string): Sizes {
  const [ofCore, ofDemo] = [areasOf(core), areasOf(demo)];
  const bytes = (areas: Map<string, number>, ...names: string[]) =>
    names.reduce((total, name) => total + (areas.get(name) ?? 0), 0);
  return {
    core: bytes(ofCore, "CSEG"),
    image: Number(/^ +ROM\/EPROM\/FLASH +\S+ +\S+ +(\d+)/m.exec(memory)?.[1]),
    tables: bytes(ofCore, "CONST") + bytes(ofDemo, "CONST"),
    ram: bytes(ofCore, "DSEG", "OSEG", "ISEG", "BSEG", "XSEG", "PSEG"),
  };
}
