// How arguments become the values of a profile B call, and a result's values an object; keys are positions.
import type { CborValue, Decoded, DecodedMap } from "../wire/cbor.ts";
import { stubTypes } from "../wire/message.ts";
import { type Field, isNumberType, rawOf, type Value, type Values, valueOfRaw } from "./field.ts";

/** The type by which a stub announces such an argument. */
export function stubTypeOf({ type }: Field): number {
  return stubTypes[type as keyof typeof stubTypes];
}

/** Values that have been found to fit. */
export function encodeArguments(fields: readonly Field[], values: Values): CborValue[] {
  return fields.map((field) => {
    const value = values[field.name] as Value;
    if (field.type === "float") return { float32: rawOf(field, value as number) };
    if (isNumberType(field.type)) return rawOf(field, value as number);
    return field.type === "bytes" ? new Uint8Array(Buffer.from(value as string, "base64")) : value;
  });
}

/** A string that says what is wrong. Values are yet to be checked. */
export function decodeResult(fields: readonly Field[], result: DecodedMap): Values | string {
  if (result.size !== fields.length) return `it has ${result.size} parts instead of ${fields.length}`;
  const values: Values = {};
  for (const [key, field] of fields.entries()) {
    const value = decodeValue(field, result.get(key));
    if (value === undefined) return `${field.name} cannot be read`;
    values[field.name] = value;
  }
  return values;
}

function decodeValue(field: Field, value: Decoded | undefined): Value | undefined {
  if (isNumberType(field.type)) return typeof value === "number" ? valueOfRaw(field, value) : undefined;
  if (field.type === "bool") return typeof value === "boolean" ? value : undefined;
  if (field.type === "text") return typeof value === "string" ? value : undefined;
  return value instanceof Uint8Array ? Buffer.from(value).toString("base64") : undefined;
}
