// The boards that firmware/ is built for, and what each may cost. [AX-B-2]

type Profile = "a" | "b";

export interface Target {
  name: string;
  profile: Profile;
  chip: "cortex-m" | "avr" | "8051";
  /** Of QEMU; the chip's own simulator needs none. */
  machine?: string;
  line: "uart" | "spi";
  /** Below firmware/, besides the core and the demonstration. */
  sources: readonly string[];
  flags: readonly string[];
}

const cortexM = (machine: string, cpu: string, profile: Profile): Target => ({
  name: `${machine}-${profile}`,
  profile,
  chip: "cortex-m",
  machine,
  line: "uart",
  sources: ["cortex-m/start.c", `cortex-m/${machine}.c`],
  flags: [`-mcpu=${cpu}`],
});

export const targets: readonly Target[] = [
  cortexM("microbit", "cortex-m0", "a"),
  cortexM("microbit", "cortex-m0", "b"),
  cortexM("lm3s6965evb", "cortex-m3", "b"),
  {
    name: "atmega328p-a",
    profile: "a",
    chip: "avr",
    line: "uart",
    sources: ["avr/uart.c"],
    flags: [],
  },
  {
    name: "atmega328p-b",
    profile: "b",
    chip: "avr",
    line: "uart",
    sources: ["avr/uart.c"],
    flags: [],
  },
  {
    name: "atmega328p-spi-b",
    profile: "b",
    chip: "avr",
    line: "spi",
    sources: ["avr/spi.c"],
    flags: ["-DWITHOUT_MAIN"],
  },
  {
    name: "8052-a",
    profile: "a",
    chip: "8051",
    line: "uart",
    sources: ["8051/board.c"],
    flags: ["-DMCPX_A_PAYLOAD=4"],
  },
];

/** In bytes. */
export interface Sizes {
  /** Code of the protocol alone, with what it draws in of the compiler's library. */
  core: number;
  /** All that is flashed. */
  image: number;
  /** The demonstration's tables, in ROM. */
  tables: number;
  /** Static RAM of the protocol: buffers and state. */
  ram: number;
}

/** What a budget is broken by, in words; empty where it is kept. */
export function overBudget({ profile }: Pick<Target, "profile">, sizes: Sizes): string[] {
  const bounds: Partial<Sizes> = profile === "a" ? { ram: 16 } : { core: 2_047, tables: 511, ram: 255 };
  return Object.entries(bounds)
    .filter(([part, most]) => sizes[part as keyof Sizes] > most)
    .map(([part, most]) => `${part} is ${sizes[part as keyof Sizes]} bytes, at most ${most} are allowed`);
}
