// How far this client has read: everything up to here, each envelope once. [B-RESUME-1]

export interface Position {
  epoch: string;
  seq: number;
}

/** What a number means to somebody who stands at `position`. */
export function placeOf(position: Position, seq: number): "next" | "past" | "hole" {
  if (seq <= position.seq) return "past";
  return seq === position.seq + 1 ? "next" : "hole";
}

export function resumeText({ epoch, seq }: Position): string {
  return `${epoch}:${seq}`;
}
