// How arguments become the bytes of a profile A payload, and bytes a result: struct, TLV or raw. [AX-B-7]
import { type Field, isNumberType, rawOf, type Value, type Values, valueOfRaw } from "./field.ts";

export type Layout = "struct" | "tlv" | "raw";

const widths: Partial<Record<Field["type"], number>> = {
  u8: 1,
  i8: 1,
  u16: 2,
  i16: 2,
  u32: 4,
  i32: 4,
  f32: 4,
  bool: 1,
};

/** `undefined`: as long as it is. */
export function widthOf({ type, length }: Field): number | undefined {
  return widths[type] ?? length;
}

const tlvBytesMax = 255;

/** Values that have been found to fit; `undefined` where one is longer than an entry of TLV can say. */
export function encodeLayout(
  layout: Layout,
  fields: readonly Field[],
  values: Values,
): Uint8Array | undefined {
  const parts = fields.map((field) => encodeField(field, values[field.name] as Value));
  if (layout === "tlv") {
    if (parts.some(({ length }) => length > tlvBytesMax)) return undefined;
    const entries = fields.map((field, at) => {
      const bytes = parts[at] as Uint8Array;
      return [field.tag as number, bytes.length, ...bytes];
    });
    return Uint8Array.from(entries.sort((a, b) => (a[0] as number) - (b[0] as number)).flat());
  }
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

/** A string that says what is wrong, where the bytes are no such payload. Values are yet to be checked. */
export function decodeLayout(layout: Layout, fields: readonly Field[], bytes: Uint8Array): Values | string {
  if (layout === "tlv") return decodeTlv(fields, bytes);
  return layout === "raw" ? decodeRaw(fields, bytes) : decodeStruct(fields, bytes);
}

function encodeField(field: Field, value: Value): Uint8Array {
  const { type, length } = field;
  if (type === "text" || type === "bytes") {
    const content = Buffer.from(value as string, type === "text" ? "utf8" : "base64");
    const padded = new Uint8Array(length ?? content.length);
    padded.set(content);
    return padded;
  }
  const bytes = new Uint8Array(widths[type] as number);
  if (type === "bool") bytes[0] = value ? 1 : 0;
  else writeNumber(new DataView(bytes.buffer), field, rawOf(field, value as number));
  return bytes;
}

function writeNumber(view: DataView, { type, littleEndian = false }: Field, raw: number): void {
  if (type === "f32") view.setFloat32(0, raw, littleEndian);
  else if (view.byteLength === 1) view.setInt8(0, raw);
  else if (view.byteLength === 2) view.setInt16(0, raw, littleEndian);
  else view.setInt32(0, raw, littleEndian);
}

function readNumber(view: DataView, { type, littleEndian = false }: Field): number {
  if (type === "f32") return view.getFloat32(0, littleEndian);
  if (type === "i8") return view.getInt8(0);
  if (type === "u8") return view.getUint8(0);
  if (type === "i16") return view.getInt16(0, littleEndian);
  if (type === "u16") return view.getUint16(0, littleEndian);
  return type === "i32" ? view.getInt32(0, littleEndian) : view.getUint32(0, littleEndian);
}

/** `undefined` where they are no value of that type. */
function decodeField(field: Field, bytes: Uint8Array): Value | undefined {
  if (isNumberType(field.type)) {
    return valueOfRaw(field, readNumber(new DataView(bytes.buffer, bytes.byteOffset, bytes.length), field));
  }
  if (field.type === "bool") return (bytes[0] as number) > 1 ? undefined : bytes[0] === 1;
  if (field.type === "bytes") return Buffer.from(bytes).toString("base64");
  const end = bytes.indexOf(0);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(
      end < 0 ? bytes : bytes.subarray(0, end),
    );
  } catch {
    // Not UTF-8: not a text.
    return undefined;
  }
}

function decodeStruct(fields: readonly Field[], bytes: Uint8Array): Values | string {
  const values: Values = {};
  let at = 0;
  for (const field of fields) {
    const width = widthOf(field) ?? 0;
    const value = at + width > bytes.length ? undefined : decodeField(field, bytes.subarray(at, at + width));
    if (value === undefined) return `${field.name} cannot be read`;
    values[field.name] = value;
    at += width;
  }
  return at === bytes.length ? values : "there are bytes left over";
}

function decodeRaw([field]: readonly Field[], bytes: Uint8Array): Values | string {
  if (field === undefined) return bytes.length === 0 ? {} : "there are bytes left over";
  return { [field.name]: Buffer.from(bytes).toString("base64") };
}

function decodeTlv(fields: readonly Field[], bytes: Uint8Array): Values | string {
  const values: Values = {};
  for (let at = 0; at < bytes.length; ) {
    const [tag, length] = bytes.subarray(at, at + 2);
    const content = bytes.subarray(at + 2, at + 2 + (length ?? 0));
    if (length === undefined || content.length < length) return "an entry is cut off";
    at += 2 + length;
    const field = fields.find((one) => one.tag === tag);
    if (field === undefined) continue;
    if (Object.hasOwn(values, field.name)) return `${field.name} is there twice`;
    const isFitting = length === (widthOf(field) ?? length);
    const value = isFitting ? decodeField(field, content) : undefined;
    if (value === undefined) return `${field.name} cannot be read`;
    values[field.name] = value;
  }
  return values;
}
