// Wrong command lines of `mcpx cert` and `mcpx token`: told in one line, with nothing written.
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runMcpxAt } from "../testing/run-mcpx.ts";

test.each([
  [["cert", "server", "*.example.com"], /^mcpx: "\*\.example\.com" is neither a DNS name nor an address/],
  [["cert", "server", "fe80::1%eth0"], /is neither a DNS name nor an address/],
  [
    ["cert", "server", "a.example", "--days", "826"],
    "mcpx: --days 826 is not a number of days; write one from 1 to 825",
  ],
  [["cert", "client", "bücher.example"], /is not a DNS name.*xn--/],
  [["cert", "client", "127.0.0.1.", "--days", "1"], /is not a DNS name/],
  [["cert", "client", "a.example", "--days", "0"], /^mcpx: --days 0/],
  [["cert", "ca", "--days", "1e9"], /^mcpx: --days 1e9/],
  [["cert", "ca", "--name", "x".repeat(65)], /^mcpx: --name is too long/],
  [["token", "--segment", "Lab"], /^mcpx: invalid value "Lab" for --segment/],
  [["token", "--segment", "gateway"], /is reserved for the gateway itself/],
  [["token", "--segment", "lab", "--scope", "wrte"], /did you mean --scope write\?/],
  [["token", "--topic", "t", "--id", "a", "--scope", "read"], /^mcpx: --scope needs --segment/],
  [["token", "--topic", "t", "--id", "a", "--audience", "x"], /^mcpx: --audience needs --authority/],
  [["token", "--authority", "a.example"], /^mcpx: --audience is missing/],
  [["token", "--authority", "a.example", "--audience", "x"], /is not an aggregator_id/],
  [["token", "--authority", "a_b", "--audience", "x"], /is not a DNS name/],
  [
    [
      "token",
      "--authority",
      "a.example",
      "--audience",
      "0b9a4c52-6f0e-4c1e-9a8e-0c5f3f1d2e3a",
      "--topic",
      "t",
    ],
    /^mcpx: --topic cannot be combined with --authority/,
  ],
  [
    [
      "token",
      "--authority",
      "a.example",
      "--audience",
      "0b9a4c52-6f0e-4c1e-9a8e-0c5f3f1d2e3a",
      "--ttl",
      "11m",
    ],
    "mcpx: --ttl 11m is too long; a proof is valid for 10m at most",
  ],
])("mcpx %j is refused in one line, exit 2", async (args, line) => {
  const dir = mkdtempSync(join(tmpdir(), "mcpx-misuse-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const { code, err } = await runMcpxAt({ env: { HOME: dir, MCPX_DATA: dir }, cwd: dir }, args);
  expect(code).toBe(2);
  expect(err).toMatch(line);
  expect(err.match(/\n/g)).toHaveLength(1);
  expect(readdirSync(dir)).toEqual([]);
});
