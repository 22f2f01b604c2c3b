import { expect, test } from "vitest";
import { judgeServer, type ServerFacts } from "./judge-server.ts";

const good: ServerFacts = {
  version: 150_018,
  versionText: "15.18",
  encoding: "UTF8",
  isReplica: false,
  isReadOnly: false,
  synchronousCommit: "on",
  fsync: "on",
  fullPageWrites: "on",
  synchronousStandbys: "",
};

test("a server that keeps what it has committed is fit, without a word", () => {
  expect(judgeServer(good)).toEqual({ isFit: true, warnings: [] });
  expect(judgeServer({ ...good, synchronousCommit: "remote_apply", version: 180_004 })).toEqual({
    isFit: true,
    warnings: [],
  });
});

test.each<[Partial<ServerFacts>, RegExp]>([
  [{ version: 140_011, versionText: "14.11" }, /version 14\.11, and the store needs 15 or later/],
  [{ isReplica: true, isReadOnly: true }, /read-only replica; name the primary/],
  [{ isReadOnly: true }, /default_transaction_read_only/],
  [{ encoding: "SQL_ASCII" }, /encoded in SQL_ASCII/],
  [{ synchronousCommit: "off" }, /synchronous_commit is off: a crash would lose/],
  [{ fsync: "off" }, /fsync is off: a power cut/],
  [{ fullPageWrites: "off" }, /full_page_writes is off/],
])("%o is refused, with what to do", (facts, why) => {
  expect(judgeServer({ ...good, ...facts })).toEqual({ isFit: false, why: expect.stringMatching(why) });
});

test.each<[Partial<ServerFacts>, RegExp]>([
  [{ synchronousCommit: "local" }, /local: .* no standby, and a failover can lose it/],
  [{ synchronousCommit: "local", synchronousStandbys: "ANY 1 (b, c)" }, /although .* is ANY 1 \(b, c\)/],
  [{ synchronousCommit: "remote_write", synchronousStandbys: "b" }, /remote_write: a standby/],
])("%o is warned of", (facts, warning) => {
  expect(judgeServer({ ...good, ...facts })).toEqual({
    isFit: true,
    warnings: [expect.stringMatching(warning)],
  });
});
