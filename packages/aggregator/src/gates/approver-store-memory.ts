// Approvers that are forgotten with the process.
import { McpxError } from "@mcpx/protocol";
import { type Approver, type ApproverStore, readApprover } from "./approver-store.ts";

export function createMemoryApproverStore(): ApproverStore {
  const approvers = new Map<string, Approver>();
  return {
    list: async () => [...approvers.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
    async add(approver) {
      const key = approver.name.toLowerCase();
      if (approvers.has(key)) throw new McpxError("id_conflict", "there is an approver of this name");
      approvers.set(key, readApprover(approver));
    },
    async remove(name) {
      return approvers.get(name.toLowerCase())?.name === name && approvers.delete(name.toLowerCase());
    },
    async keepCounter(name, counter) {
      const approver = approvers.get(name.toLowerCase());
      if (approver === undefined || !("passkey" in approver) || approver.name !== name) return;
      const { passkey } = approver;
      if (counter <= passkey.counter) return;
      approvers.set(name.toLowerCase(), { ...approver, passkey: { ...passkey, counter } });
    },
  };
}
