// Where the nodes of a tree stand: in columns from left to right, each beside the middle of what stands below it; or,
// where there is no room for columns, as a list that steps in. Pure.

export interface Branching<T> {
  readonly key: string;
  readonly children: readonly T[];
}

interface PlacedNode<T> {
  readonly node: T;
  /** What it stands below; `undefined` for the root. */
  readonly parent: T | undefined;
  readonly x: number;
  readonly y: number;
  readonly widthPx: number;
  readonly heightPx: number;
}

export interface PlacedTree<T> {
  /** Each before what stands below it, as it is read aloud. */
  readonly nodes: readonly PlacedNode<T>[];
  /** From a node to those below, as paths of SVG; by the key of the one below. */
  readonly lines: readonly { key: string; path: string }[];
  readonly widthPx: number;
  readonly heightPx: number;
}

export interface TreeSize<T> {
  widthPx: number;
  /** A node is at least so wide where there are columns. */
  nodePx: number;
  gapPx: number;
  heightOf(node: T): number;
}

const stepPx = 18;
const linePx = 36;
/** Wider than this times the least is not easier to read. */
const widestFactor = 1.5;

export function placeTree<T extends Branching<T>>(root: T, size: TreeSize<T>): PlacedTree<T> {
  const depth = depthOf(root);
  const isWide = depth * size.nodePx + (depth - 1) * linePx <= size.widthPx;
  return isWide ? inColumns(root, size, depth) : inSteps(root, size);
}

function depthOf<T extends Branching<T>>({ children }: T): number {
  return 1 + Math.max(0, ...children.map((child) => depthOf(child)));
}

function inColumns<T extends Branching<T>>(root: T, size: TreeSize<T>, depth: number): PlacedTree<T> {
  const { gapPx, heightOf } = size;
  const nodes: PlacedNode<T>[] = [];
  const lines: { key: string; path: string }[] = [];
  const room = (size.widthPx - (depth - 1) * linePx) / depth;
  const nodePx = Math.floor(Math.min(size.nodePx * widestFactor, room));
  const blocks = new Map<T, number>();
  const measure = (node: T): number => {
    const below = node.children.map(measure);
    const sum = below.reduce((total, one) => total + one, 0) + gapPx * Math.max(0, below.length - 1);
    const block = Math.max(heightOf(node), sum);
    blocks.set(node, block);
    return block;
  };
  const blockOf = (node: T) => blocks.get(node) ?? 0;
  /** Gives back where the middle of the node is. */
  const place = (node: T, parent: T | undefined, level: number, top: number): number => {
    const own = heightOf(node);
    const at = nodes.length;
    const x = level * (nodePx + linePx);
    const entry = { node, parent, x, y: top, widthPx: nodePx, heightPx: own };
    nodes.push(entry);
    const below = node.children.reduce((sum, child) => sum + blockOf(child) + gapPx, -gapPx);
    let next = top + Math.max(0, (blockOf(node) - below) / 2);
    const middles = node.children.map((child) => {
      const middle = place(child, node, level + 1, next);
      next += blockOf(child) + gapPx;
      return middle;
    });
    const ideal = ((middles.at(0) ?? top + own / 2) + (middles.at(-1) ?? top + own / 2)) / 2;
    const middle = Math.min(Math.max(ideal, top + own / 2), top + blockOf(node) - own / 2);
    nodes[at] = { ...entry, y: middle - own / 2 };
    node.children.forEach((child, i) => {
      lines.push({ key: child.key, path: curve(x + nodePx, middle, middles[i] ?? middle) });
    });
    return middle;
  };
  const heightPx = measure(root);
  place(root, undefined, 0, 0);
  return { nodes, lines, widthPx: depth * nodePx + (depth - 1) * linePx, heightPx };
}

function curve(x: number, from: number, to: number): string {
  const middle = x + linePx / 2;
  return `M${x} ${from}C${middle} ${from} ${middle} ${to} ${x + linePx} ${to}`;
}

function inSteps<T extends Branching<T>>(root: T, size: TreeSize<T>): PlacedTree<T> {
  const { gapPx, widthPx, heightOf } = size;
  const nodes: PlacedNode<T>[] = [];
  const lines: { key: string; path: string }[] = [];
  let next = 0;
  const place = (node: T, parent: T | undefined, level: number): void => {
    const x = level * stepPx;
    const [y, heightPx] = [next, heightOf(node)];
    nodes.push({ node, parent, x, y, widthPx: Math.max(widthPx - x, size.nodePx / 2), heightPx });
    next += heightPx + gapPx;
    for (const child of node.children) {
      const middle = next + heightOf(child) / 2;
      lines.push({ key: child.key, path: `M${x + stepPx / 2} ${y + heightPx}V${middle}H${x + stepPx}` });
      place(child, node, level + 1);
    }
  };
  place(root, undefined, 0);
  return { nodes, lines, widthPx, heightPx: next - gapPx };
}
