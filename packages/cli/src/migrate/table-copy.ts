// One table as it stands in a file and as it stands in PostgreSQL, and how a row of one becomes a row of the other.
import type { Seal } from "@mcpx/host";

/** As SQLite has it. */
export type PlainRow = Record<string, string | number | null | Uint8Array>;
export type StoreCell = string | number | boolean | null | Buffer;

type Kind = "text" | "int" | "real" | "flag" | "bytes" | "blob" | "sealed";

interface Column {
  /** Its names; only in the store where it is made for it. */
  file: string;
  store: string;
  kind: Kind;
  /** Which secret this is; what has no place is not sealed. */
  place?: (row: PlainRow) => string | undefined;
}

export interface TableCopy {
  component: "host" | "gateway" | "aggregator" | "bridges" | "authorization" | "topics";
  name: string;
  columns: readonly Column[];
  /** Reads the rows of a file, where that is more than a table; each with the names of `columns`. */
  fromFile?: string;
  /** Writes a row to a file, with `?` for each column. `null`: another row has made it. */
  intoFile?: string | null;
  /** Reads the rows of the store, where that is more than a table. */
  fromStore?: string;
  /** For tables that are created with a row: how the copied row replaces it. */
  conflict?: string;
  /** The columns that say the order, and that are unique: all are whole numbers where pages begin after them. */
  order: readonly string[];
  /** Of the store, once all rows are there. */
  after?: readonly string[];
}

const casts: Record<Kind, string> = {
  text: "text",
  sealed: "text",
  int: "bigint",
  real: "double precision",
  flag: "boolean",
  bytes: "bytea",
  blob: "bytea",
};

/** `name`, `name>other` where the store calls it otherwise, `name:kind` where it is not a string. */
export function columnsOf(text: string, places: Record<string, NonNullable<Column["place"]>> = {}): Column[] {
  return text.split(" ").map((word) => {
    const [names = "", kind = "text"] = word.split(":");
    const [file = "", store = file] = names.split(">");
    const place = places[file];
    return { file, store, kind: kind as Kind, ...(place && { place }) };
  });
}

export function fileSelect({ fromFile, name, columns, order }: TableCopy): string {
  const fileOrder = order.map((one) => columns.find(({ store }) => store === one)?.file ?? one);
  const from = fromFile === undefined ? name : `(${fromFile})`;
  return `SELECT ${columns.map(({ file }) => `"${file}"`).join(", ")} FROM ${from} ORDER BY ${fileOrder.map((one) => `"${one}"`).join(", ")}`;
}

export function fileInsert({ intoFile, name, columns }: TableCopy): string | undefined {
  if (intoFile === null) return undefined;
  const names = columns.map(({ file }) => `"${file}"`).join(", ");
  return (
    intoFile ?? `INSERT OR REPLACE INTO ${name} (${names}) VALUES (${columns.map(() => "?").join(", ")})`
  );
}

/** A page: after the last row of the one before by its numbers, else so many rows on. */
export function storeSelect({ fromStore, name, columns, order }: TableCopy): {
  text: string;
  isKeyed: boolean;
} {
  const kinds = order.map((one) => columns.find(({ store }) => store === one)?.kind);
  const isKeyed = kinds.every((kind) => kind === "int");
  const names = columns.map(({ store }) => store).join(", ");
  const from = fromStore === undefined ? name : `(${fromStore}) AS rows`;
  const by = order.join(", ");
  const marks = order.map((_, i) => `$${i + 2}::bigint`).join(", ");
  const where = isKeyed ? `WHERE (${by}) > (${marks})` : "";
  const offset = isKeyed ? "" : "OFFSET $2::bigint";
  return {
    text: `SELECT ${names} FROM ${from} ${where} ORDER BY ${by} LIMIT $1::bigint ${offset}`,
    isKeyed,
  };
}

/** Puts rows and notes how many are there by now, or does neither. */
export function storeInsert({ name, columns, conflict = "" }: TableCopy): string {
  const isBytes = ({ kind }: Column) => kind === "bytes" || kind === "blob";
  const arrays = columns.map((column, i) => `$${i + 3}::${isBytes(column) ? "bytea" : "text"}[]`);
  const cells = columns.map(({ kind }, i) => `c${i}::${casts[kind]}`);
  return `
    WITH put AS (
      INSERT INTO ${name} (${columns.map(({ store }) => store).join(", ")}) OVERRIDING SYSTEM VALUE
      SELECT ${cells.join(", ")} FROM unnest(${arrays.join(", ")}) AS row (${columns.map((_, i) => `c${i}`).join(", ")})
      ${conflict}
    )
    INSERT INTO migration_progress VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value`;
}

/** For `unnest`: whole columns, as texts or as bytes. */
export function toStore(
  { columns }: TableCopy,
  rows: readonly PlainRow[],
  seal: Seal,
): (string | Buffer | null)[][] {
  return columns.map((column) => rows.map((row) => storeCell(column, row, seal)));
}

export function isBytesColumn({ kind }: Pick<Column, "kind">): boolean {
  return kind === "bytes" || kind === "blob";
}

function storeCell({ file, kind, place }: Column, row: PlainRow, seal: Seal): string | Buffer | null {
  const value = row[file] ?? null;
  if (value === null) return null;
  if (value instanceof Uint8Array) return Buffer.from(value);
  if (kind === "bytes") return Buffer.from(String(value));
  if (kind === "flag") return value === 0 ? "false" : "true";
  const at = kind === "sealed" ? place?.(row) : undefined;
  return at === undefined ? String(value) : seal.close(String(value), at);
}

export function toFile({ columns }: TableCopy, cells: readonly StoreCell[], seal: Seal): PlainRow {
  const row: PlainRow = {};
  columns.forEach(({ file, kind }, i) => {
    const cell = cells[i] ?? null;
    if (Buffer.isBuffer(cell)) row[file] = kind === "bytes" ? cell.toString() : cell;
    else row[file] = typeof cell === "boolean" ? Number(cell) : cell;
  });
  for (const { file, kind, place } of columns) {
    const at = kind === "sealed" ? place?.(row) : undefined;
    if (at !== undefined && row[file] !== null) row[file] = seal.open(String(row[file]), at);
  }
  return row;
}
