// The pages and the tables in code say the same; whoever changes one is told to change the other.
import { globSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { closeCodes, mayComeBack } from "./close-codes.ts";
import { errorTable } from "./errors.ts";
import { defaultLimits } from "./limits.ts";
import { roomMethods } from "./room-methods.ts";

type Row = Record<string, string>;

function page(name: string): string {
  return readFileSync(new URL(`../../../docs/${name}`, import.meta.url), "utf8");
}

/** The rows of all tables of a page that have these columns, each cell by its column's name. */
function tableRows(text: string, columns: readonly string[]): Row[] {
  const rows: Row[] = [];
  let isInTable = false;
  for (const line of text.split("\n")) {
    // Cells may be padded by a formatter.
    const cells = line
      .slice(1, -1)
      .split("|")
      .map((cell) => cell.trim());
    if (!line.startsWith("|")) isInTable = false;
    else if (cells.join() === columns.join()) isInTable = true;
    else if (isInTable && !cells.every((cell) => /^-+$/.test(cell))) {
      expect(cells, line).toHaveLength(columns.length);
      rows.push(Object.fromEntries(columns.map((column, i) => [column, cells[i] ?? ""])));
    }
  }
  return rows;
}

/** One plain sentence. */
const sentence = /^[A-Z].*[^.]\.$/;

describe("docs/ERRORS.md", () => {
  const text = page("ERRORS.md");
  const written = tableRows(text, [
    "reason",
    "code",
    "HTTP",
    "fault",
    "retry",
    "message",
    "suggestion",
    "when",
  ]);

  test("lists every error of the table once, with what the code says of it", () => {
    const expected = Object.entries(errorTable).map(
      ([reason, { code, http, fault, retry, message, suggestion }]) => ({
        reason: `\`${reason}\``,
        code: String(code),
        HTTP: String(http),
        fault,
        retry: retry ? "yes" : "no",
        message,
        suggestion,
      }),
    );
    expect(written.map(({ when, ...row }) => row)).toEqual(expected);
  });

  test.each(written)("says in a sentence when $reason is the answer", ({ when }) => {
    expect(when).toMatch(sentence);
  });

  const closes = tableRows(text, ["code", "name", "come back", "when"]);

  test("lists every close code once, and whether to come back", () => {
    const advice = (code: number) => {
      if (code === closeCodes.unauthorised) return "once, with a new token";
      return mayComeBack(code) ? "yes" : "no";
    };
    const expected = Object.entries(closeCodes).map(([name, code]) => ({
      code: String(code),
      name: `\`${name}\``,
      "come back": advice(code),
    }));
    expect(closes.map(({ when, ...row }) => row)).toEqual(expected);
  });

  test.each(closes)("says in a sentence when $code closes a connection", ({ when }) => {
    expect(when).toMatch(sentence);
  });

  test("names no limit and no close code that does not exist", () => {
    const limits = [...text.matchAll(/`(\w+(?:Max|Ms|PerMinute|PerSecond))`/g)].map(([, name]) => name);
    expect(Object.keys(defaultLimits)).toEqual(expect.arrayContaining(limits));
    const codes = [...text.matchAll(/\b4[45]\d\d\b/g)].map(([code]) => Number(code));
    expect(Object.values(closeCodes)).toEqual(expect.arrayContaining(codes));
  });
});

describe("docs/LIMITS.md", () => {
  const text = page("LIMITS.md");
  const written = tableRows(text, ["limit", "default", "what it bounds"]);

  test("lists every limit once, with its default", () => {
    const expected = Object.entries(defaultLimits).map(([name, value]) => ({
      limit: `\`${name}\``,
      default: String(value),
    }));
    expect(written.map(({ limit, default: value }) => ({ limit, default: value }))).toEqual(expected);
  });

  test.each(written)("says in a sentence what $limit bounds", (row) => {
    expect(row["what it bounds"]).toMatch(sentence);
  });

  test("names no error and no close code that does not exist", () => {
    // The section on what is stored names tables.
    const [limits = ""] = text.split("## On disk");
    const words = [...limits.matchAll(/`([a-z]+(?:_[a-z]+)+)`/g)].map(([, word]) => word);
    expect([...Object.keys(errorTable), "token_expiring"]).toEqual(expect.arrayContaining(words));
    const codes = [...text.matchAll(/\b4[45]\d\d\b/g)].map(([code]) => Number(code));
    expect(Object.values(closeCodes)).toEqual(expect.arrayContaining(codes));
  });
});

describe("spec/PROTOCOL.md", () => {
  const text = readFileSync(new URL("../../../spec/PROTOCOL.md", import.meta.url), "utf8");

  test("[X1-4.1-1] lists the methods of ours that rooms carry, and no other", () => {
    const written = tableRows(text, ["method", "shape", "what"]).map(({ method }) => method);
    expect(written.sort()).toEqual(
      Object.values(roomMethods)
        .map((method) => `\`${method}\``)
        .sort(),
    );
  });

  test("[X1-4.1-1] no other file spells one of them: the table is where they are read from", () => {
    const packages = new URL("../../", import.meta.url);
    const sources = globSync("*/src/**/*.{ts,svelte}", {
      cwd: packages,
      exclude: ["**/*.test.ts", "**/node_modules"],
    });
    const spelled = Object.values(roomMethods).map((method) => `"${method}"`);
    const found = sources.filter((path) => {
      const source = readFileSync(new URL(path, packages), "utf8");
      return spelled.some((method) => source.includes(method));
    });
    expect(found).toEqual(["protocol/src/room-methods.ts"]);
  });
});
