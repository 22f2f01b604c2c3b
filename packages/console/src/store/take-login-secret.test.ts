import { expect, test } from "vitest";
import { takeLoginSecret } from "./take-login-secret.ts";

const [given, old] = ["A".repeat(43), "B".repeat(43)];

/** What is kept afterwards, what was asked with, and whether the address still has it. */
async function open(hash: string, before: string | null, answer: () => Response) {
  let kept = before;
  let isInAddress = true;
  const asked: unknown[] = [];
  await takeLoginSecret({
    hash,
    known: () => kept,
    keep: (half) => {
      kept = half;
    },
    clear: () => {
      isInAddress = false;
    },
    fetch: async (path, init) => {
      asked.push([path, new Headers(init?.headers).get("x-mcpx-console")]);
      return answer();
    },
  });
  return { kept, isInAddress, asked };
}

const answered = (status: number) => () => new Response("{}", { status });
const away = () => {
  throw new TypeError("Failed to fetch");
};

test("[X0-9-2] a half that the gateway refuses takes nobody's place", async () => {
  const asked = [["/console/api/session", given]];
  expect(await open(`#in=${given}`, old, answered(401))).toEqual({ kept: old, isInAddress: false, asked });
  expect(await open(`#in=${given}`, old, answered(200))).toEqual({ kept: given, isInAddress: false, asked });
  expect(await open(`#in=${given}`, null, answered(200))).toMatchObject({ kept: given });
});

test("where nobody answers, who is logged in stays so, and loading it again tries it again", async () => {
  for (const answer of [away, answered(503)]) {
    expect(await open(`#in=${given}`, old, answer)).toMatchObject({ kept: old, isInAddress: true });
    expect(await open(`#in=${given}`, null, answer)).toMatchObject({ kept: given, isInAddress: false });
  }
});

test("what is no half is not asked about", async () => {
  for (const hash of ["", "#in=short", `#in=${given}x`, `#out=${given}`]) {
    expect(await open(hash, old, away)).toEqual({ kept: old, isInAddress: true, asked: [] });
  }
});
