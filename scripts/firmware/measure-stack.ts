// The most stack a board needs for everything that the vectors let it hear.
import { buildTarget, type Image } from "./build.ts";
import { exercise } from "./exercise.ts";
import { startBoard } from "./start-board.ts";

export async function measureStack(image: Image, directory: string): Promise<number> {
  const { target } = image;
  if (target.chip === "8051") return askSensor(image, directory);
  await using board = await startBoard(image);
  const heard = await exercise(board.line, target);
  if (heard.length === 0) throw new Error(`${target.name} said nothing`);
  return await board.stackUsed();
}

/** Of the 8052 nothing can be read from outside: an image whose sensor is its stack tells. */
async function askSensor({ target }: Image, directory: string): Promise<number> {
  const measuring = { ...target, name: `${target.name}-stack` };
  const image = await buildTarget(measuring, directory, ["-DMEASURE_STACK"]);
  await using board = await startBoard(image);
  const heard = await exercise(board.line, target);
  // A response of tool 1: 7E, 8, type 2, tool 1, SEQ, status 0, and the reading.
  const at = heard.lastIndexOf(Buffer.from([0x7e, 0x08, 0x02, 0x01]));
  if (at < 0) throw new Error(`${target.name} said nothing`);
  return heard.readUInt16BE(at + 6);
}
