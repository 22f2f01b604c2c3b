// kill -9 of the gateway around an approved call: what was not sent is said not to be, and nothing is sent twice.
import { join } from "node:path";
import { openSqliteTreeStores } from "@mcpx/aggregator";
import { systemClock } from "@mcpx/host";
import { expect, test } from "vitest";
import { startGated } from "./support/gated.ts";

const slow = { timeout: 120_000 };

test(
  "[AX-11.3-5] killed between the approval and the dispatch: never sent, said so, and asked for anew",
  slow,
  async () => {
    const gated = await startGated();
    const before = await gated.agent("agent");
    await before.call("papers.shred", { paper: "taxes" });
    const [gate] = await gated.pending();
    await gated.end("SIGKILL");
    // As far as a gateway comes that dies there: the approval is on the disk, and the call is not marked as used.
    const stores = openSqliteTreeStores(join(gated.dataDir, "state.db"));
    const store = stores.gates({ clock: systemClock });
    const approval = { by: "alice", thumbprint: "t".repeat(43), proof: "p", proofHash: "h" };
    expect(await store.approve(gate?.id ?? "", approval)).toMatchObject({ status: "approved" });
    stores[Symbol.dispose]();
    await gated.start();
    expect(gated.traces()).toEqual([]);
    const late = await gated.run("approve", gate?.id ?? "", "--yes");
    expect(late).toMatchObject({
      code: 1,
      err: expect.stringContaining("could not be sent as it was signed"),
    });
    const after = await gated.agent("agent");
    const shred = () => after.call("papers.shred", { paper: "taxes" });
    expect(await shred()).toBe(
      "Nothing has happened: papers.shred was approved and not sent: The gateway stopped before the approved call was sent",
    );
    const { out } = await gated.run("audit", "--action", "gate.refused", "--json");
    expect(JSON.parse(out).records).toMatchObject([{ subject: "papers.shred", reason: "never_sent" }]);
    // What is asked for now is a new call, and is done once.
    await shred();
    const [again] = await gated.pending();
    expect(again?.id).not.toBe(gate?.id);
    await gated.run("approve", again?.id ?? "", "--yes");
    expect(await shred()).toBe("shred is done");
    expect(gated.traces()).toEqual(['shred {"paper":"taxes"}']);
  },
);
