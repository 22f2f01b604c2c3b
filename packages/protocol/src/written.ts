// Values of strangers as text and as numbers. `String` and `Number` throw for an object whose own `toString` is no
// function, which any JSON may hold.

export function written(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "undefined");
}

export function numeric(value: unknown): number {
  return typeof value === "object" ? Number.NaN : Number(value);
}
