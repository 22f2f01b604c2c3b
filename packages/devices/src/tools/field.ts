// One argument or one part of a result, as the configuration describes it: its JSON Schema, and whether a value fits.
import { isObject, type JsonObject, numberOf } from "@mcpx/protocol";

const numberRanges = {
  u8: [0, 0xff],
  i8: [-0x80, 0x7f],
  u16: [0, 0xffff],
  i16: [-0x8000, 0x7fff],
  u32: [0, 0xffff_ffff],
  i32: [-0x8000_0000, 0x7fff_ffff],
  uint: [0, 0xffff_ffff],
  int: [-0x8000_0000, 0x7fff_ffff],
  f32: [-3.4028234663852886e38, 3.4028234663852886e38],
  float: [-3.4028234663852886e38, 3.4028234663852886e38],
} as const;

type NumberType = keyof typeof numberRanges;
export type FieldType = NumberType | "bool" | "text" | "bytes";

export const fieldTypesA: readonly FieldType[] = [
  "u8",
  "i8",
  "u16",
  "i16",
  "u32",
  "i32",
  "f32",
  "bool",
  "text",
  "bytes",
];
export const fieldTypesB: readonly FieldType[] = ["uint", "int", "float", "bool", "text", "bytes"];

/** Of either profile. */
export const deviceFieldTypes: readonly FieldType[] = [...new Set([...fieldTypesA, ...fieldTypesB])];

export interface Field {
  name: string;
  type: FieldType;
  description?: string | undefined;
  minimum?: number | undefined;
  maximum?: number | undefined;
  /** What is on the wire times `scale` plus `offset` is the value. */
  scale?: number | undefined;
  offset?: number | undefined;
  /** Of `text` and `bytes`, in bytes: exactly (profile A) or at most (profile B). */
  length?: number | undefined;
  littleEndian?: boolean | undefined;
  /** In TLV. */
  tag?: number | undefined;
}

export function isNumberType(type: FieldType): type is NumberType {
  return type in numberRanges;
}

const isFloat = (type: FieldType) => type === "f32" || type === "float";

/** Bounds of the value, not of what is on the wire. */
function boundsOf(field: Field): { least: number; most: number } {
  const [low, high] = numberRanges[field.type as NumberType];
  const ends = [low, high].map((raw) => raw * (field.scale ?? 1) + (field.offset ?? 0)) as [number, number];
  return {
    least: Math.max(field.minimum ?? -Infinity, Math.min(...ends)),
    most: Math.min(field.maximum ?? Infinity, Math.max(...ends)),
  };
}

const isWhole = ({ type, scale = 1, offset = 0 }: Field) =>
  !isFloat(type) && Number.isInteger(scale) && Number.isInteger(offset);

function schemaOfField(field: Field): JsonObject {
  const description = field.description === undefined ? {} : { description: field.description };
  if (field.type === "bool") return { type: "boolean", ...description };
  if (!isNumberType(field.type)) {
    const encoding = field.type === "bytes" ? { contentEncoding: "base64" } : {};
    return { type: "string", ...encoding, ...description };
  }
  const { least, most } = boundsOf(field);
  const bounds = isFloat(field.type) && field.minimum === undefined && field.maximum === undefined;
  return {
    type: isWhole(field) ? "integer" : "number",
    ...(bounds ? {} : { minimum: least, maximum: most }),
    ...description,
  };
}

export function schemaOf(fields: readonly Field[]): JsonObject {
  return {
    type: "object",
    properties: Object.fromEntries(fields.map((field) => [field.name, schemaOfField(field)])),
    required: fields.map(({ name }) => name),
    additionalProperties: false,
  };
}

export type Value = number | boolean | string;
export type Values = Record<string, Value>;

/** In the one spelling of these bytes: of another, the bytes would be another text than was shown. */
function isBase64(text: string): boolean {
  return Buffer.from(text, "base64").toString("base64") === text;
}

/** In words what is wrong with a value; `undefined` where nothing is. */
export function faultOf(field: Field, value: unknown): string | undefined {
  const { name, type } = field;
  if (type === "bool") return typeof value === "boolean" ? undefined : `${name} is not a boolean`;
  if (isNumberType(type)) return numberFault(field, value);
  if (typeof value !== "string") return `${name} is not a string`;
  if (type === "bytes" && !isBase64(value)) return `${name} is not base64`;
  if (!value.isWellFormed()) return `${name} is not well-formed text`;
  const bytes = Buffer.byteLength(value, type === "bytes" ? "base64" : "utf8");
  return field.length !== undefined && bytes > field.length
    ? `${name} has more than ${field.length} bytes`
    : undefined;
}

function numberFault(field: Field, value: unknown): string | undefined {
  const { name } = field;
  // Read exactly, because it would be another one otherwise.
  if (typeof value === "object" && numberOf(value) !== undefined)
    return `${name} has more digits than are kept`;
  if (typeof value !== "number" || !Number.isFinite(value)) return `${name} is not a number`;
  if (isWhole(field) && !Number.isInteger(value)) return `${name} is not a whole number`;
  const { least, most } = boundsOf(field);
  if (value < least || value > most) return `${name} is not between ${least} and ${most}`;
  const arriving = valueOfRaw(field, wireNumber(field, value));
  return isKept(field, value, arriving)
    ? undefined
    : `${name} is ${value}, and the device would get ${arriving}`;
}

/** The number that a device reads. */
function wireNumber(field: Field, value: number): number {
  const raw = rawOf(field, value);
  return isFloat(field.type) ? Math.fround(raw) : raw;
}

/** What a person has approved is what arrives: nothing is rounded but the last digits of a fraction. */
function isKept({ type, scale = 1, offset = 0 }: Field, value: number, arriving: number): boolean {
  const isExact = isFloat(type) && scale === 1 && offset === 0 && Number.isInteger(value);
  const share = isExact ? 0 : isFloat(type) ? 2 ** -22 : 1e-9;
  return Math.abs(arriving - value) <= Math.abs(value) * share;
}

/** In words what is wrong with all of them together: one missing, one too many, one that does not fit. */
export function faultOfValues(fields: readonly Field[], values: unknown): string | undefined {
  if (!isObject(values)) return "the arguments are not an object";
  const unknown = Object.keys(values).find((name) => !fields.some((field) => field.name === name));
  if (unknown !== undefined) return `${JSON.stringify(unknown)} is not known`;
  for (const field of fields) {
    const value = Object.hasOwn(values, field.name) ? values[field.name] : undefined;
    const fault = value === undefined ? `${field.name} is missing` : faultOf(field, value);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** What goes on the wire for a number that fits. */
export function rawOf({ type, scale = 1, offset = 0 }: Field, value: number): number {
  const raw = (value - offset) / scale;
  return isFloat(type) ? raw : Math.round(raw);
}

/** Rounded to what the scale can mean: 215 × 0.1 is 21.5. */
export function valueOfRaw({ scale = 1, offset = 0 }: Field, raw: number): number {
  return scale === 1 && offset === 0 ? raw : Number((raw * scale + offset).toPrecision(12));
}
