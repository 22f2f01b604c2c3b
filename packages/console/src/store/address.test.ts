import { expect, test } from "vitest";
import { type Address, addressText, readAddress, withQuery } from "./address.ts";

const read = (text: string) => {
  const { pathname, search } = new URL(text, "http://localhost");
  return readAddress(pathname, search);
};

test.each<[string, Address]>([
  ["/", { view: "room", query: {} }],
  ["/console/rooms/bakery", { view: "room", name: "bakery", query: {} }],
  ["/console/rooms/a%2Fb%3Fc", { view: "room", name: "a/b?c", query: {} }],
  ["/console/rooms/bakery/envelopes/e-1", { view: "room", name: "bakery", envelope: "e-1", query: {} }],
  ["/console/gates/g1", { view: "gate", name: "g1", query: {} }],
  ["/console/tools/office.shred", { view: "tool", name: "office.shred", query: {} }],
  ["/console/servers", { view: "servers", query: {} }],
  ["/console/servers/office", { view: "servers", name: "office", query: {} }],
  ["/console/bridges", { view: "bridges", query: {} }],
  ["/console/bridges/team", { view: "bridges", name: "team", query: {} }],
  ["/console/audit?search=call+me", { view: "audit", query: { search: "call me" } }],
])("%s is read and written the same", (text, address) => {
  expect(read(text)).toEqual(address);
  expect(addressText(address)).toBe(text);
});

test("an address of nothing here is none", () => {
  for (const text of [
    "/approve/1",
    "/console/nothing",
    "/console/rooms",
    "/console/gate",
    "/console/rooms/",
    "/console/rooms/a/b",
    "/console/gates/a/envelopes/b",
    "/console/rooms/a/envelopes/b/c",
    `/console/rooms/${"a".repeat(3_000)}`,
  ]) {
    expect([text, read(text)]).toEqual([text, undefined]);
  }
  expect(readAddress("/console/rooms/%E0%A4%A", "")).toBeUndefined();
});

test("a query changes by its keys, and an empty value leaves its key out", () => {
  const address = { view: "audit", query: { search: "a", of: "b" } } as const;
  expect(withQuery(address, { search: "", more: "c" }).query).toEqual({ of: "b", more: "c" });
});
