// RFC 3339 timestamps.

const charsMax = 64;
const shape = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:[Zz]|[+-](\d{2}):(\d{2}))$/;

/** Whether a value is an RFC 3339 timestamp with a date that exists. [X0-4-4] */
export function isTimestamp(value: unknown): value is string {
  if (typeof value !== "string" || value.length > charsMax) return false;
  const match = shape.exec(value);
  if (match === null) return false;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, offsetHour = 0, offsetMinute = 0] =
    match.slice(1).map((part) => Number(part ?? 0));
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return false;
  if (hour > 23 || minute > 59 || second > 60 || offsetHour > 23 || offsetMinute > 59) return false;
  if (second < 60) return true;
  // A leap second is written :60, and only the last minute of a day in UTC has one.
  const offset = (offsetHour * 60 + offsetMinute) * (value.at(-6) === "-" ? -1 : 1);
  return (hour * 60 + minute - offset + 1440) % 1440 === 1439;
}

/** Milliseconds since 1970 of a valid timestamp. */
export function timestampMs(value: string): number {
  // Beyond nine digits V8 misreads a fraction, so only the milliseconds are kept.
  const short = value.replace(/(\.\d{3})\d+/, "$1");
  return Date.parse(short.toUpperCase().replace(":60", ":59"));
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}
