import { changesBetween } from "@mcpx/aggregator";
import { describe, expect, test } from "vitest";
import type { Config } from "../config/config.ts";
import { authorityOf, withoutHeld } from "./gate-authority.ts";

const notes = { command: "notes", args: ["--all"], env: { TOKEN: "one" } };
const keysOf = (config: Config) => [...authorityOf(config, "/").keys()];
const said = (config: Config, key: string) => authorityOf(config, "/").get(key);

describe("[B-KEY-2] what a configuration says of its gates", () => {
  test("of one that believes nobody, the rules alone", () => {
    expect(keysOf({ mcpServers: { notes } })).toEqual(["rules"]);
    expect(said({}, "rules")).toEqual({ rules: [], unannotated: "ask", quorum: 1 });
  });

  test("each thing that is believed, let off or renamed is one of its own", () => {
    const config: Config = {
      pins: false,
      mcpServers: {
        notes: {
          ...notes,
          trusted: true,
          unannotated: "allow",
          pin: false,
          tools: { wipe: { name: "tidy", capability: { reversible: true } } },
        },
      },
      subservers: { lab: { trusted: true } },
    };
    expect(keysOf(config)).toEqual([
      "rules",
      "unpinned",
      "server/notes/trusted",
      "server/notes/unannotated",
      "server/notes/unpinned",
      "server/notes/tool/wipe/capability",
      "server/notes/tool/wipe/name",
      "subserver/lab/trusted",
    ]);
  });

  test("trust is given to a program or address, not to a name; a new secret is no other program", () => {
    const trusted = (more: object): Config => ({
      mcpServers: { notes: { ...notes, trusted: true, ...more } },
    });
    const key = "server/notes/trusted";
    const before = said(trusted({}), key);
    for (const more of [{ command: "evil" }, { args: [] }, { cwd: "/tmp" }, { env: { LD_PRELOAD: "x" } }]) {
      expect(said(trusted(more), key), JSON.stringify(more)).not.toEqual(before);
    }
    expect(said(trusted({ env: { TOKEN: "two" } }), key)).toEqual(before);
  });

  test("a server that a rule lets pass by its name is bound to its program too", () => {
    const named = (tools: string, root?: string): Config => ({
      mcpServers: { notes },
      ...(root !== undefined && { segment: root }),
      gates: { rules: [{ tools, action: "allow" }] },
    });
    expect(keysOf(named("notes.read"))).toContain("server/notes/named");
    expect(keysOf(named("plant.notes.*", "plant"))).toContain("server/notes/named");
    expect(keysOf(named("other.*"))).not.toContain("server/notes/named");
    // Whoever has signed that everything passes has signed it of those who come.
    expect(keysOf(named("**"))).not.toContain("server/notes/named");
  });
});

test("[B-KEY-2] without what waits, a configuration says what was signed, and all the rest of it", () => {
  const before: Config = { mcpServers: { notes: { ...notes, trusted: true } } };
  const signed = authorityOf(before, "/");
  const after: Config = {
    pins: false,
    mcpServers: {
      notes: { ...notes, command: "evil", trusted: true, timeout: 5 },
      more: { command: "more", trusted: true, pin: false, tools: { a: { name: "b", title: "A" } } },
    },
    gates: {
      rules: [{ tools: "**", action: "allow" }],
      unannotated: "allow",
      timeout: 9,
      anchors: [anchor()],
    },
  };
  const held = changesBetween(signed, authorityOf(after, "/"));
  expect(withoutHeld(after, held, signed)).toEqual({
    pins: true,
    mcpServers: {
      notes: { ...notes, command: "evil", timeout: 5 },
      more: { command: "more", tools: { a: { title: "A" } } },
    },
    gates: { rules: [], unannotated: "ask", quorum: 1, timeout: 9, anchors: [] },
  });
  // It is as strict as what was signed: nothing more would have to be.
  const kept = authorityOf(withoutHeld(after, held, signed), "/");
  expect(changesBetween(signed, kept).filter(({ value }) => value !== null)).toEqual([]);
});

describe("[B-KEY-2] what looks on", () => {
  const guard = { command: "guard" };
  const scanners = {
    dlp: { url: "https://dlp.example.com/mcpx", secret: "${env:DLP}", tools: ["mail.**"] },
    guard: { server: "guard", whenDown: "pass" as const },
  };
  const push = {
    siem: { kind: "otlp" as const, url: "https://siem.example.com", headers: { key: "${env:K}" } },
  };
  const before: Config = { mcpServers: { guard }, scanners, audit: { push } };
  const signed = authorityOf(before, "/");
  const heldOf = (after: Config) => changesBetween(signed, authorityOf(after, "/"));
  const keptOf = (after: Config) => withoutHeld(after, heldOf(after), signed);

  test("each scanner and place of the audit is one thing, and its secret none", () => {
    const less = authorityOf({ mcpServers: { guard } }, "/");
    const changes = changesBetween(less, signed);
    expect(changes.map(({ key }) => key)).toEqual(["audit/siem", "scanner/dlp", "scanner/guard"]);
    expect(
      heldOf({ ...before, scanners: { ...scanners, dlp: { ...scanners.dlp, secret: "${env:NEW}" } } }),
    ).toEqual([]);
  });

  test("taken out, or turned off, they are there as they were signed, and what cannot be judged is held", () => {
    for (const after of [
      { mcpServers: { guard } },
      {
        mcpServers: { guard },
        scanners: { dlp: { ...scanners.dlp, disabled: true }, guard: { ...scanners.guard, disabled: true } },
        audit: { push: { siem: { ...push.siem, disabled: true } } },
      },
    ] as Config[]) {
      expect(heldOf(after).map(({ key }) => key)).toEqual(["audit/siem", "scanner/dlp", "scanner/guard"]);
      const kept = keptOf(after);
      expect(kept.scanners?.dlp).toMatchObject({ url: scanners.dlp.url, tools: ["mail.**"] });
      expect(kept.scanners?.dlp?.disabled).toBeUndefined();
      expect(kept.scanners?.guard).toMatchObject({ server: "guard" });
      expect(kept.audit?.push?.siem).toMatchObject({ kind: "otlp", url: push.siem.url });
      expect(kept.audit?.push?.siem?.disabled).toBeUndefined();
    }
    expect(keptOf({ mcpServers: { guard } }).scanners?.dlp?.whenDown).toBe("hold");
  });

  test("looking at less, at another address or by another program waits too", () => {
    const other = keptOf({
      ...before,
      mcpServers: { guard: { command: "nods" } },
      scanners: {
        ...scanners,
        dlp: { ...scanners.dlp, tools: ["mail.read"], whenDown: "pass", url: "http://127.0.0.1" },
      },
      audit: { push: { siem: { ...push.siem, url: "http://127.0.0.1/nobody" } } },
    });
    expect(other.scanners?.dlp).toEqual(scanners.dlp);
    // The program that was signed is not there any more: nobody judges in its place.
    expect(other.scanners?.guard).toMatchObject({ server: "", whenDown: "hold" });
    expect(other.audit?.push?.siem).toEqual(push.siem);
  });
});

function anchor() {
  return { name: "eve", jwk: { kty: "OKP" as const, crv: "Ed25519" as const, x: "A".repeat(43) } };
}
