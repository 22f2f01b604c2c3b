// The vectors of spec/devices.md, as the C tests use them.
import { readFileSync } from "node:fs";
import { join } from "node:path";

interface ExchangeA {
  name: string;
  hears: string[];
  answers: string;
}

export interface ExchangeB {
  name: string;
  hears: string[];
  answers: string[];
}

interface ProfileA {
  frames: { name: string; crc8: string; crc16: string }[];
  exchanges: ExchangeA[];
  large: ExchangeA[];
}

interface ProfileB {
  messages: { name: string; packet: string }[];
  exchanges: ExchangeB[];
  probed: ExchangeB[];
}

function read(name: string): unknown {
  const path = join(import.meta.dirname, "..", "..", "..", "spec", "vectors", "devices", `${name}.json`);
  return JSON.parse(readFileSync(path, "utf8"));
}

export const profileA = read("profile-a") as ProfileA;
export const profileB = read("profile-b") as ProfileB;
