// What is judged by the public conformance suite, as data: one cell is one thing under test at one revision.
import { drive } from "./client/drive.ts";
import { serveClients } from "./client/serve-clients.ts";
import type { Rewrite } from "./rewrite.ts";
import { type Revision, runClientSuite, runServerSuite, type SuiteResult } from "./run-suite.ts";
import { startBehind } from "./start-behind.ts";
import { startFixture } from "./start-fixture.ts";

/** A server that runs, and what the suite needs to reach it. */
interface ServerUnderTest {
  url: string;
  headers?: Record<string, string>;
  rewrite?: Rewrite;
  stop(): Promise<void>;
}

export type Cell = {
  name: string;
  revision: Revision;
  /** Scenarios the revision requires, and how many of them must pass here. */
  total: number;
  expected: number;
  /** Each of its two sides is judged in another cell: the place is about names, the transport about the wire. */
  isCombination?: true;
} & ({ start(): Promise<ServerUnderTest> } | { isClient: true });

/** The fixture without anything of ours: if these fail, the others say nothing. */
const controlCells: Cell[] = [
  {
    name: "direct-http",
    revision: "2025-11-25",
    start: () => startFixture("legacy"),
    total: 30,
    expected: 30,
  },
  {
    name: "direct-http",
    revision: "2026-07-28",
    start: () => startFixture("modern"),
    total: 37,
    expected: 37,
  },
  {
    name: "direct-http-both",
    revision: "2025-11-25",
    start: () => startFixture("both"),
    total: 30,
    expected: 30,
  },
  {
    name: "direct-http-both",
    revision: "2026-07-28",
    start: () => startFixture("both"),
    total: 37,
    expected: 37,
  },
];

const legacy = { revision: "2025-11-25", total: 30 } as const;
const modern = { revision: "2026-07-28", total: 37 } as const;

/** What `npm test` does not judge, and a soak does. */
const combination = (transport: "http" | "stdio", at: "root" | "segment") =>
  (transport === "http") === (at === "segment") && ({ isCombination: true } as const);

/** The fixture behind the tree, in its own era and from the other, at the root and under a segment. */
const treeCells: Cell[] = (["http", "stdio"] as const).flatMap((transport) => [
  ...(["root", "segment"] as const).flatMap((at) => [
    {
      name: `tree-${transport}-${at}`,
      ...legacy,
      ...combination(transport, at),
      expected: 30,
      start: () => startBehind({ era: "legacy", transport, at }),
    },
    {
      name: `tree-${transport}-${at}`,
      ...modern,
      ...combination(transport, at),
      expected: 37,
      start: () => startBehind({ era: "modern", transport, at }),
    },
    ...([legacy, modern] as const).map((suite) => ({
      name: `tree-${transport}-${at}-both`,
      ...suite,
      ...combination(transport, at),
      expected: suite.total,
      start: () => startBehind({ era: "both", transport, at }),
    })),
  ]),
  {
    name: `tree-${transport}-bridged`,
    ...legacy,
    expected: 30,
    start: () => startBehind({ era: "modern", transport, at: "root" }),
  },
  {
    name: `tree-${transport}-bridged`,
    ...modern,
    // Two cannot be judged across eras: the old one has no keys for questions, and a server of it that lacks a
    // capability of its client's says so in words. Behind servers that look for the client's capabilities in each
    // request alone there is a third: docs/decisions/0014-two-eras.md.
    expected: 35,
    start: () => startBehind({ era: "legacy", transport, at: "root" }),
  },
]);

/** Our endpoint towards servers, driven by the suite as a client. */
const clientCells: Cell[] = [
  { name: "client", revision: "2025-11-25", isClient: true, total: 18, expected: 18 },
  { name: "client", revision: "2026-07-28", isClient: true, total: 32, expected: 32 },
];

export const cells: Cell[] = [...controlCells, ...treeCells, ...clientCells];

export async function runCell(cell: Cell): Promise<SuiteResult> {
  const { revision } = cell;
  if ("isClient" in cell) return runClients(revision);
  const { url, headers, rewrite, stop } = await cell.start();
  try {
    return await runServerSuite({ url, revision, ...(headers && { headers }), ...(rewrite && { rewrite }) });
  } finally {
    await stop();
  }
}

async function runClients(revision: Revision): Promise<SuiteResult> {
  const { command, stop } = await serveClients(drive);
  try {
    return await runClientSuite({ command, revision });
  } finally {
    await stop();
  }
}

/** Why a cell is not what it should be; undefined when it is. */
export function shortfall({ expected, total }: Cell, result: SuiteResult): string | undefined {
  if (result.total !== total) return `the suite has ${result.total} scenarios, not ${total}`;
  if (result.passed >= expected) return undefined;
  const failed = result.failed.map(({ scenario, checks }) => `${scenario}: ${checks.map(said).join("; ")}`);
  return [`${result.passed} of ${total} passed, ${expected} should have`, ...failed].join("\n  ");
}

function said({ id, message }: { id: string; message: string }): string {
  return `${id} (${message})`;
}
