import { expect, test } from "vitest";
import type { ClientWorld } from "./client.ts";
import { clientsOf } from "./clients.ts";

/** The user's file of every client. */
function userFiles(world: ClientWorld): Record<string, string | undefined> {
  return Object.fromEntries(clientsOf([]).map((client) => [client.id, client.files(world)[0]?.path]));
}

test("on Linux", () => {
  const world = { env: {}, home: "/home/me", cwd: "/w", platform: "linux" } as const;
  expect(userFiles(world)).toEqual({
    "claude-desktop": "/home/me/.config/Claude/claude_desktop_config.json",
    "claude-code": "/home/me/.claude.json",
    cursor: "/home/me/.cursor/mcp.json",
    vscode: "/home/me/.config/Code/User/mcp.json",
    codex: "/home/me/.codex/config.toml",
    gemini: "/home/me/.gemini/settings.json",
    opencode: "/home/me/.config/opencode/opencode.json",
  });
  expect(userFiles({ ...world, env: { XDG_CONFIG_HOME: "/cfg" } })).toMatchObject({
    "claude-desktop": "/cfg/Claude/claude_desktop_config.json",
    vscode: "/cfg/Code/User/mcp.json",
  });
});

test("on macOS", () => {
  expect(userFiles({ env: {}, home: "/Users/me", cwd: "/w", platform: "darwin" })).toMatchObject({
    "claude-desktop": "/Users/me/Library/Application Support/Claude/claude_desktop_config.json",
    vscode: "/Users/me/Library/Application Support/Code/User/mcp.json",
    codex: "/Users/me/.codex/config.toml",
  });
});

test("on Windows", () => {
  const world = {
    env: { APPDATA: "D:\\Roaming" },
    home: "C:\\Users\\me",
    cwd: "C:\\w",
    platform: "win32",
  } as const;
  expect(userFiles(world)).toEqual({
    "claude-desktop": "D:\\Roaming\\Claude\\claude_desktop_config.json",
    "claude-code": "C:\\Users\\me\\.claude.json",
    cursor: "C:\\Users\\me\\.cursor\\mcp.json",
    vscode: "D:\\Roaming\\Code\\User\\mcp.json",
    codex: "C:\\Users\\me\\.codex\\config.toml",
    gemini: "C:\\Users\\me\\.gemini\\settings.json",
    opencode: "C:\\Users\\me\\.config\\opencode\\opencode.json",
  });
  expect(userFiles({ ...world, env: {} }).vscode).toBe(
    "C:\\Users\\me\\AppData\\Roaming\\Code\\User\\mcp.json",
  );
});

test("clients that let their directory be moved are followed there", () => {
  const env = { CLAUDE_CONFIG_DIR: "/a", CODEX_HOME: "/b", GEMINI_CLI_HOME: "/c" };
  expect(userFiles({ env, home: "/home/me", cwd: "/w", platform: "linux" })).toMatchObject({
    "claude-code": "/a/.claude.json",
    codex: "/b/config.toml",
    gemini: "/c/.gemini/settings.json",
  });
});

test("a project's files are in the working directory", () => {
  const world = { env: {}, home: "/home/me", cwd: "/w", platform: "linux" } as const;
  const files = clientsOf([]).flatMap((client) => client.files(world));
  expect(files.filter(({ scope }) => scope === "project").map(({ path }) => path)).toEqual([
    ...["/w/.mcp.json", "/w/.cursor/mcp.json", "/w/.vscode/mcp.json"],
    ...["/w/.codex/config.toml", "/w/.gemini/settings.json", "/w/opencode.json", "/w/opencode.jsonc"],
  ]);
});
