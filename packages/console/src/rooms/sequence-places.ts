// Where the parts of a sequence stand, in pixels. Pure.
import type { Arrow, Sequence } from "./sequence.ts";

export interface SequenceSize {
  /** What there is room for; wider pictures scroll. */
  widthPx: number;
  /** On the left, for the times. */
  gutterPx: number;
}

interface ArrowPlace {
  y: number;
  /** From where to where its line goes; the same where it goes nowhere. */
  x1: number;
  x2: number;
  /** Where somebody gets it, and from which side it comes. */
  heads: readonly { x: number; isLeftward: boolean }[];
  labelX: number;
  labelPx: number;
}

export interface SequencePlaces {
  widthPx: number;
  heightPx: number;
  columnPx: number;
  columnXs: readonly number[];
  arrows: readonly ArrowPlace[];
  bars: readonly { x: number; y: number; heightPx: number; isOpen: boolean }[];
}

export const rowPx = 40;
const columnPxMin = 116;
const columnPxMax = 260;
/** From the top of a row to its line: the label stands above. */
const linePx = 28;
export const barPx = 8;
const edgePx = 6;

export function placesOf(sequence: Sequence, { widthPx, gutterPx }: SequenceSize): SequencePlaces {
  const { columns, arrows, activations } = sequence;
  const count = Math.max(1, columns.length);
  const columnPx = Math.floor(
    Math.min(columnPxMax, Math.max(columnPxMin, (widthPx - gutterPx - edgePx) / count)),
  );
  const columnXs = columns.map((_, place) => gutterPx + columnPx * place + columnPx / 2);
  const totalPx = Math.max(gutterPx + columnPx * count + edgePx, Math.min(widthPx, gutterPx + columnPx));
  const heightPx = arrows.length * rowPx + rowPx / 2;
  const yOf = (place: number) => place * rowPx + linePx;
  return {
    widthPx: totalPx,
    heightPx,
    columnPx,
    columnXs,
    arrows: arrows.map((arrow, place) => arrowPlace(arrow, yOf(place), { columnXs, columnPx, totalPx })),
    bars: activations.map(({ column, from, to }) => ({
      x: (columnXs[column] ?? 0) - barPx / 2,
      y: yOf(from),
      heightPx: (to === undefined ? heightPx : yOf(to)) - yOf(from),
      isOpen: to === undefined,
    })),
  };
}

interface Ground {
  columnXs: readonly number[];
  columnPx: number;
  totalPx: number;
}

function arrowPlace({ from, to, kind }: Arrow, y: number, ground: Ground): ArrowPlace {
  const { columnXs, columnPx } = ground;
  const start = columnXs[from] ?? 0;
  // To oneself, or to a room where nobody else is: a short way to the right.
  const aside = start + columnPx / 3;
  const ends = to.map((place) => (place === from ? aside : (columnXs[place] ?? start)));
  const xs = [start, ...(ends.length === 0 && kind !== "note" ? [aside] : ends)];
  const x1 = Math.min(...xs);
  const x2 = Math.max(...xs);
  const heads = ends.map((x) => ({ x, isLeftward: x < start }));
  return { y, x1, x2, heads, ...labelPlace(x1, x2, ground) };
}

/** Over its line; where that is short, centred over it as far as there is room. */
function labelPlace(x1: number, x2: number, { columnPx, totalPx }: Ground) {
  const labelPx = Math.min(totalPx - 2 * edgePx, Math.max(x2 - x1, columnPx) - 2 * edgePx);
  const centred = (x1 + x2) / 2 - labelPx / 2;
  return { labelPx, labelX: Math.max(edgePx, Math.min(centred, totalPx - labelPx - edgePx)) };
}
