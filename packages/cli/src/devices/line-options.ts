// What commands that open a line themselves have in common.
import { LineUnavailableError, type OpenLine, type ReadLine, readLine } from "@mcpx/devices";
import type { OptionSpecs, OptionValues } from "../framework/command.ts";
import { Failure, misuse } from "../framework/failure.ts";
import { lineFix } from "./line-fix.ts";

export const lineOptions = {
  username: {
    type: "string",
    value: "NAME",
    about: "of an MQTT broker; its password is $MCPX_MQTT_PASSWORD",
  },
} as const satisfies OptionSpecs;

export interface GivenLine extends Pick<ReadLine, "encoding"> {
  openLine: OpenLine;
}

interface LineContext {
  options: OptionValues<typeof lineOptions>;
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
}

export function readGivenLine(text: string, { options, env, cwd }: LineContext): GivenLine {
  let line: ReadLine;
  try {
    line = readLine(text, cwd);
  } catch (error) {
    if (error instanceof RangeError) throw misuse(`invalid line ${text}`, error.message);
    throw error;
  }
  const login = { username: options.username, password: env.MCPX_MQTT_PASSWORD };
  const openLine: OpenLine = async (taker) => {
    try {
      return await line.open(login)(taker);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message || cause.name : String(cause);
      // Some say themselves what to do about it.
      const isSaid = cause instanceof LineUnavailableError;
      const fix = isSaid ? undefined : lineFix(text, cause);
      throw new Failure(`${text} cannot be opened: ${why}`, fix, { isTemporary: !isSaid, cause });
    }
  };
  return { encoding: line.encoding, openLine };
}
