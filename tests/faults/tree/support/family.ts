// A tree of real processes: the root, `mid` below it, `low` below that, and subservers where a test wants them. Whatever
// a test has left dead or frozen is up again before the next one.
import { type LeafGroup, type LeafProcess, startLeaves } from "./leaf-process.ts";
import { startNode, type TreeNode } from "./tree-node.ts";
import { expectTruth } from "./truth.ts";

/** Of aggregators: the shortest that a configuration can say. */
export const nodeHeartbeatMs = 1_000;

export interface Family {
  readonly root: TreeNode;
  node(
    parent: TreeNode,
    segment: string,
    by?: { url?: string; backups?: string[]; token?: string; heartbeatMs?: number },
  ): Promise<TreeNode>;
  leaves(node: TreeNode, segments: readonly string[], group: LeafGroup): Promise<LeafProcess>;
  /** Everybody lives, and the root shows exactly these tools. */
  heal(names: readonly string[]): Promise<void>;
  /** Ends everybody. */
  close(): Promise<void>;
}

export async function startFamily(config: object = {}): Promise<Family> {
  const nodes: TreeNode[] = [];
  const groups: LeafProcess[] = [];
  const root = await startNode([], config);
  nodes.push(root);
  return {
    root,
    async node(parent, segment, by = {}) {
      const { url = parent.url, backups = [], token, heartbeatMs = nodeHeartbeatMs } = by;
      const [minted = ""] = token === undefined ? await parent.tokensFor([segment]) : [token];
      const heartbeat = `${heartbeatMs / 1_000}s`;
      const node = await startNode([{ url, segment, token: minted, heartbeat, backups }], config);
      nodes.push(node);
      return node;
    },
    async leaves(node, segments, group) {
      const started = await startLeaves(node, segments, group);
      groups.push(started);
      return started;
    },
    async heal(names) {
      for (const one of [...nodes, ...groups]) {
        one.thaw();
        if (!one.isUp) await one.revive();
      }
      await expectTruth(root.place, names);
    },
    async close() {
      await Promise.all([...groups.map((one) => one.kill()), ...nodes.map((one) => one.remove())]);
    },
  };
}
