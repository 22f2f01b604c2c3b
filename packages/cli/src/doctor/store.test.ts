import type { MissingRights } from "@mcpx/host";
import { expect, test } from "vitest";
import { judgeStore } from "./store.ts";

const good = {
  version: "17.2",
  settings: "synchronous_commit on, fsync on, full_page_writes on",
  walBytes: 1_073_741_824,
  now: 1_000_000,
  isEncrypted: true,
  isRemote: true,
  excess: "",
  missing: undefined as MissingRights | undefined,
};
const judge = (more: Partial<typeof good> = {}) =>
  judgeStore("postgres://a@b/c", { ...good, ...more }, 1_000_000);

test("a good store is shown with what makes it durable", () => {
  expect(judge()).toEqual([
    {
      about: "store",
      state: "ok",
      text: "PostgreSQL 17.2 at postgres://a@b/c, over TLS; synchronous_commit on, fsync on, full_page_writes on",
      fix: undefined,
    },
  ]);
});

test.for([
  [{ isEncrypted: false }, "warning", /not encrypted/],
  [{ walBytes: 83_886_080 }, "warning", /min_wal_size is 80 MiB/],
  [{ excess: "a superuser" }, "warning", /more than it needs: a superuser/],
  [
    { missing: { what: "SELECT on table audit", grants: "GRANT …" } },
    "fault",
    /lacks a right: SELECT on table audit/,
  ],
  [{ now: 1_030_000 }, "warning", /clock is 30 s ahead/],
  [{ now: 800_000 }, "fault", /clock is 200 s behind/],
] as const)("%o is a finding of its own", ([more, state, text]) => {
  expect(judge(more)[1]).toMatchObject({ about: "store", state, text: expect.stringMatching(text) });
});
