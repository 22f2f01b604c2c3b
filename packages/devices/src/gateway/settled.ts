// Tells a reader of frames that its line has been silent, so that a frame behind one that was cut off is read in time.
import type { FrameAReader } from "../framing/frame-a-reader.ts";
import type { FrameReader } from "../framing/framing.ts";

/** What a stub with a clock may wait too. */
const silenceMs = 100;

export function settled(reader: FrameAReader): FrameReader {
  let timer: NodeJS.Timeout | undefined;
  return (bytes) => {
    reader(bytes);
    clearTimeout(timer);
    if (reader.isWithin()) timer = setTimeout(() => reader.settle(), silenceMs).unref();
  };
}
