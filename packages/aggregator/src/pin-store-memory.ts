// Pins that end with the process.
import { type ChangedTool, changedMax, type PinStore, type SeenTool } from "./pin-store.ts";

interface Row {
  hash: string;
  text: string;
  payer: string | undefined;
  changed: (SeenTool & { since: number }) | undefined;
}

export function createMemoryPinStore(): PinStore {
  const servers = new Map<string, Map<string, Row>>();
  const rowsOf = (server: string) => servers.get(server) ?? new Map<string, Row>();
  return {
    pinsOf: (server) =>
      new Map(
        [...rowsOf(server)].map(([tool, { hash, text, changed }]) => [
          tool,
          { hash, changedHash: changed?.hash, chars: text.length + (changed?.text.length ?? 0) },
        ]),
      ),
    charsOf(payer) {
      const rows = [...servers.values()].flatMap((tools) => [...tools.values()]);
      const sum = (some: readonly Row[]) =>
        some.reduce((chars, { text, changed }) => chars + text.length + (changed?.text.length ?? 0), 0);
      return {
        ofPayer: sum(rows.filter((row) => row.payer === payer)),
        ofAll: sum(rows.filter((row) => row.payer !== undefined)),
      };
    },
    write(server, { first, changed, returned, renewed }, at, payer) {
      const rows = rowsOf(server);
      servers.set(server, rows);
      for (const { tool, hash, text } of first) {
        if (!rows.has(tool)) rows.set(tool, { hash, text, payer, changed: undefined });
      }
      for (const seen of changed) {
        const row = rows.get(seen.tool);
        if (row !== undefined) row.changed = { ...seen, since: at };
      }
      for (const tool of returned) {
        const row = rows.get(tool);
        if (row !== undefined) row.changed = undefined;
      }
      for (const { tool, hash, text } of renewed) {
        const row = rows.get(tool);
        if (row !== undefined) rows.set(tool, { ...row, hash, text, changed: undefined });
      }
    },
    changed: () =>
      [...servers]
        .flatMap(([server, rows]) => [...rows.values()].flatMap(({ changed }) => changedRow(server, changed)))
        .sort((a, b) => (a.canonical < b.canonical ? -1 : 1))
        .slice(0, changedMax),
    change(server, tool) {
      const { text, changed } = rowsOf(server).get(tool) ?? {};
      const [found] = changedRow(server, changed);
      if (found === undefined || text === undefined || changed === undefined) return undefined;
      return { ...found, was: text, now: changed.text };
    },
    accept(server, tool, hash) {
      const row = rowsOf(server).get(tool);
      if (row?.changed?.hash !== hash) return false;
      rowsOf(server).set(tool, { ...row, hash, text: row.changed.text, changed: undefined });
      return true;
    },
    forget(server) {
      const { size } = rowsOf(server);
      servers.delete(server);
      return size;
    },
  };
}

function changedRow(server: string, changed: Row["changed"]): ChangedTool[] {
  if (changed === undefined) return [];
  const { tool, canonical, hash, since } = changed;
  return [{ server, tool, canonical, hash, since }];
}
