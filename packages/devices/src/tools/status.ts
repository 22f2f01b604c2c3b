// What a status means, in words; spec/devices.md, section 1. [AX-B-4]

const words: Record<number, string> = {
  1: "the device does not know this tool",
  2: "the device does not take these arguments",
  3: "the device is busy",
  4: "the device refused: an interlock, or the wrong state",
  5: "the device tried and failed",
};

export const busyStatus = 3;

/** `own` are the configuration's words for 128 to 255. */
export function wordsOfStatus(
  status: number,
  own: Readonly<Record<string, string>>,
  text: string | undefined,
): string {
  const meaning = own[String(status)] ?? words[status] ?? words[5];
  // What a device says itself is untrusted: quoted, and after our own words.
  return `${meaning} (status ${status})${text === undefined ? "" : `; it says ${JSON.stringify(text)}`}`;
}
