import { statSync } from "node:fs";
import { dirname } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const conditions = ["mcpx-source", "node", "module"];

/** Beside its source, but it starts threads and processes and fills disks: too slow for `npm run check`. */
const slow = ["packages/gateway/src/topic-log/sqlite.test.ts"];

/** Tests with listeners and stores of their own, cleaned up by hooks of their file, or that judge the heap they are in. */
const stateful = ["packages/host/src/**/*.test.ts", "packages/protocol/src/json/heap-size.test.ts"];

/** System tests whose servers are in the process of the tests, which end all they begin and judge nothing of it. */
const inProcess = [
  "tests/access/*.test.ts",
  "tests/authorization/{attacks,documents,sign-in}.test.ts",
  "tests/bridges/!(xmpp|ejabberd|commands|presses|synapse).test.ts",
  "tests/client/{doc-examples,in-process,peers,proposals,resume,room,signing,transport}.test.ts",
  "tests/faults/{cut-at-every-byte,expiry-and-revocation,order-and-resume,silent-death}.test.ts",
  "tests/gates/{grants,shown-is-done,two-gates,room,room-attacks,room-members,room-senders,thief}.test.ts",
  "tests/gates/attacks/*.test.ts",
  "tests/openapi/*.test.ts",
  "tests/random-walk/*.test.ts",
  "tests/rooms/!(kill).test.ts",
  "tests/rooms/printed/*.test.ts",
  "tests/rooms/as-mcp/!(commands|hostile).test.ts",
  "tests/transcripts/*.test.ts",
  "tests/tree/{authority,exactness,oauth-per-user,search}.test.ts",
  "tests/tree/{credentials,endpoints,pins}/*.test.ts",
  "tests/tree/notifications/{hostile,settings,upward}.test.ts",
  "tests/tree/links/{eras,http,requests,wires}.test.ts",
  "tests/tree/registration/{circles,codes,http,kept,literal,one-place,own-calls,register,shares}.test.ts",
];

/** Only for `npm run soak`: elsewhere they are not there, rather than skipped, which counts against a run of CI. */
const soakOnly =
  process.env.MCPX_SOAK === "1"
    ? []
    : [
        "tests/authorization/assistants.test.ts",
        "tests/bridges/{ejabberd,synapse}.test.ts",
        "tests/console/firefox.test.ts",
        "tests/faults/floods.test.ts",
        "tests/clients/{commands,frameworks,installed,minutes,servers,session}.test.ts",
        "tests/metrics/promtool.test.ts",
        "tests/postgres/{disks,failover,patroni}.test.ts",
        "tests/packaging/{engines,first-start,image}.test.ts",
      ];

/** Programs are started as other users, which works only where these can read the checkout. */
const isReadByAll = [import.meta.dirname, ...parentsOf(import.meta.dirname)].every(
  (directory) => (statSync(directory).mode & 0o005) === 0o005,
);
const otherUsers = isReadByAll ? [] : ["tests/cli/{service,service-users}.test.ts"];

function parentsOf(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [] : [parent, ...parentsOf(parent)];
}

/** The longest by far: begun first, so that they do not run alone at the end. `npm test` prints what files take. */
const longest = [
  "tests/conformance/conformance.test.ts",
  "tests/bench/smoke.test.ts",
  "tests/gates/held.test.ts",
  "tests/tree/callers.test.ts",
  "tests/clients/clients.test.ts",
  "tests/tree/bad-servers.test.ts",
  "tests/cli/join.test.ts",
  "tests/cli/serve.test.ts",
  "tests/console/live-gates.test.ts",
  "tests/tree/children.test.ts",
  "tests/conform/gateway.test.ts",
  "tests/console/flood.test.ts",
  "tests/console/sleep.test.ts",
  "tests/rooms/as-mcp/proposals.test.ts",
  "packages/host/src/http/cut-off-stalled.test.ts",
  "packages/client/src/subserver/reconnect.test.ts",
  "packages/devices/src/gateway/open-device.test.ts",
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLongest = ({ moduleId }: TestSpecification) => longest.some((file) => moduleId.endsWith(file));
    return [...sorted.filter(isLongest), ...sorted.filter((file) => !isLongest(file))];
  }
}

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    // They end what hangs; how fast a machine is, is not what a test judges.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    maxWorkers: "100%",
    expect: { poll: { timeout: 15_000 } },
    sequence: { sequencer: LongestFirst },
    setupFiles: process.env.MCPX_TEST_COSTS === undefined ? [] : ["tests/support/tell-cost.ts"],
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["packages/*/src/**/*.test.ts", "scripts/**/*.test.ts"],
          exclude: [...slow, ...stateful],
          // Pure code needs no fresh world per file: three times as fast.
          isolate: false,
        },
      },
      { extends: true, test: { name: "host", include: stateful } },
      {
        extends: true,
        test: {
          name: "system",
          include: ["tests/**/*.test.ts", ...slow],
          exclude: [...inProcess, ...soakOnly, ...otherUsers],
        },
      },
      // Loading the sources anew for each file is most of what these cost.
      { extends: true, test: { name: "in-process", include: inProcess, isolate: false } },
    ],
  },
});
