import { expect, test } from "vitest";
import { readPostgresAddress, showPostgresHost } from "./address.ts";

test("an address names servers, a user, a database, and the schema of the tables", () => {
  expect(readPostgresAddress("postgres://ada:s%40fe%2F@db.example:5433/app?schema=rooms")).toEqual({
    hosts: [{ host: "db.example", port: 5_433, isEncrypted: true }],
    user: "ada",
    password: "s@fe/",
    database: "app",
    schema: "rooms",
    authorities: undefined,
  });
  expect(readPostgresAddress("postgresql://ada@localhost/app")).toMatchObject({
    hosts: [{ host: "localhost", port: 5_432, isEncrypted: false }],
    password: undefined,
    schema: "mcpx",
  });
});

test("several servers may be named, each with its port or with one for all", () => {
  const hostsOf = (text: string) => readPostgresAddress(text).hosts.map(showPostgresHost);
  expect(hostsOf("postgres://ada@one:5433,[2001:db8::2]:5434,three/app")).toEqual([
    "one:5433",
    "[2001:db8::2]:5434",
    "three:5432",
  ]);
  expect(hostsOf("postgres://ada@/app?host=one,two&port=5433")).toEqual(["one:5433", "two:5433"]);
  expect(hostsOf("postgres://ada@/app?host=%2Frun%2Fpostgresql")).toEqual(["/run/postgresql/.s.PGSQL.5432"]);
});

test("what leaves this machine is encrypted and checked, unless the operator says otherwise", () => {
  const isEncrypted = (text: string) => readPostgresAddress(text).hosts[0]?.isEncrypted;
  expect(isEncrypted("postgres://ada@db/app")).toBe(true);
  expect(isEncrypted("postgres://ada@db/app?sslmode=disable")).toBe(false);
  expect(isEncrypted("postgres://ada@[::1]/app")).toBe(false);
  expect(isEncrypted("postgres://ada@127.0.0.1/app?sslmode=verify-full")).toBe(true);
  expect(isEncrypted("postgres://ada@127.example/app")).toBe(true);
  expect(isEncrypted("postgres://ada@/app?host=/run")).toBe(false);
});

test.each([
  ["mysql://ada:hunter2@db/app", /is not postgres:\/\/USER/],
  ["postgres://ada:hunter2@x@db/app", /write @, \/ and \? as %40/],
  ["postgres://db/app?password=hunter2", /names no user/],
  ["postgres://ada:hunter2@db", /names no database/],
  ["postgres://ada:hunter2@/app", /names no host/],
  ["postgres://ada:hunter2@db:70000/app", /"70000" is not a port/],
  ["postgres://ada:hunter2@db:x/app", /"x" is not a port/],
  ["postgres://ada:hunter2@one,two/app?port=1,2,3", /2 hosts and 3 ports/],
  ["postgres://ada:hunter2@db/app?sslmode=require", /does not check which server answers.*verify-full/],
  ["postgres://ada:hunter2@db/app?sslmode=prefer", /does not check/],
  ["postgres://ada:hunter2@db/app?schema=Rooms", /schema "Rooms" is not a name/],
  ["postgres://ada:hunter2@db/app?schema=pg_rooms", /begins with pg_/],
  ["postgres://ada:hunter2@db/app?schema=a%22b", /is not a name/],
  ["postgres://ada:hunter2@db/app?options=-c%20fsync%3Doff", /"options" is not one of/],
  ["postgres://ada:hunter2@db/app?schema=a&schema=b", /schema is there twice/],
  ["postgres://ada:hunter2%@db/app", /write % itself as %25/],
])("%s is refused, and its password is not repeated", (text, message) => {
  expect(() => readPostgresAddress(text)).toThrow(message);
  expect(() => readPostgresAddress(text)).not.toThrow(/hunter2/);
});
