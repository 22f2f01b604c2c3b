// Capabilities of a room whose calls are checked, from the terminal: seen, and taken back.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { joinRoom } from "@mcpx/client";
import { createGuard, createKey, requestCapability } from "@mcpx/client/guard";
import { readCapabilityToken } from "@mcpx/protocol";
import { expect, onTestFinished, test } from "vitest";
import { annMayHeat, ovenServer } from "../access/support/guarded-kitchen.ts";
import { seen } from "../client/support/house.ts";
import { mcpx, scratch, up } from "./support/mcpx-process.ts";

async function stage() {
  const dir = scratch();
  writeFileSync(join(dir, "mcpx.json"), JSON.stringify({ topics: { kitchen: { toolAccess: "enforce" } } }));
  const { url } = await up(dir, [], { cwd: dir });
  const run = (...args: string[]) => mcpx([...args, "--data", dir], { cwd: dir });
  const enter = async (id: string) => {
    const words = ["token", "--topic", "kitchen", "--id", id, "--level", "full"];
    const key = await createKey();
    const room = await joinRoom({ url, topic: "kitchen", token: (await run(...words)).out, key });
    onTestFinished(() => room.close());
    return { room, key };
  };
  const oven = await enter("oven");
  await oven.room.serve(ovenServer([]), { guard: createGuard({ key: oven.key, policy: annMayHeat }) });
  const ann = await enter("ann");
  await Promise.all([seen(oven.room, "ann"), seen(ann.room, "oven")]);
  const ask = async () => {
    const { token } = await requestCapability(ann.room, "oven", { tools: ["heat"] });
    return readCapabilityToken(token).claims.jti;
  };
  return { run, ask };
}

test("[AC-9-3] mcpx shows which capabilities were given, and takes one back", {
  timeout: 90_000,
}, async () => {
  const { run, ask } = await stage();
  expect(await run("capabilities")).toMatchObject({
    code: 0,
    out: "",
    err: expect.stringContaining("there are no capabilities"),
  });
  const [one, other] = [await ask(), await ask()];
  const { out } = await run("capabilities", "kitchen");
  const lines = out.split("\n");
  expect(lines).toHaveLength(2);
  expect(lines[0]).toMatch(new RegExp(`^${one} +kitchen +ann +of oven +heat +for \\d+m$`));
  expect((await run("capabilities", "cellar")).out).toBe("");
  const listed = JSON.parse((await run("capabilities", "--json")).out);
  expect(listed.capabilities).toMatchObject([{ id: one }, { id: other, holder: "ann", issuer: "oven" }]);
  expect(await run("capabilities", "revoke", "nothing-like-it")).toMatchObject({ code: 1 });
  expect(await run("capabilities", "revoke", "")).toMatchObject({ code: 1 });
  expect(await run("capabilities", "revoke", one.slice(0, 12))).toMatchObject({
    code: 0,
    out: `revoked ${one} of oven in kitchen`,
  });
  expect((await run("capabilities")).out).toMatch(new RegExp(`^${other} `));
  const unseen = ["capabilities", "revoke", "elsewhere", "--room", "kitchen", "--owner", "oven", "--json"];
  expect(JSON.parse((await run(...unseen)).out)).toMatchObject({ id: "elsewhere", known: false });
});
