import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { installedService } from "../service/installed-service.ts";
import { fromOutside } from "./set-up.ts";

test.runIf(process.platform === "linux")(
  "[B-KEY-3] the service of a machine is known by its unit, whoever it runs as; without a unit there is none",
  () => {
    const root = mkdtempSync(join(tmpdir(), "mcpx-set-up-"));
    onTestFinished(() => rmSync(root, { recursive: true }));
    const write = (path: string, text: string) => {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    };
    expect(installedService(root)).toBeUndefined();
    write("etc/systemd/system/mcpx.service", "[Service]\nUser=keeper\nExecStart=/bin/true\n");
    write("etc/passwd", "root:x:0:0::/root:/bin/sh\nkeeper:x:991:991::/nonexistent:/bin/false\n");
    expect(installedService(root)).toEqual({
      ...{ user: "keeper", uid: 991, dataDir: "/var/lib/mcpx", isReached: false },
    });
    mkdirSync(join(root, "var/lib/mcpx"), { recursive: true });
    expect(installedService(root)).toMatchObject({ isReached: true });
    write("etc/passwd", "root:x:0:0::/root:/bin/sh\n");
    expect(installedService(root)).toMatchObject({ uid: undefined });
  },
);

test("[B-KEY-3] from outside doctor says which set-up it is, and the next command", () => {
  const service = { user: "mcpx", uid: 991, dataDir: "/var/lib/mcpx", isReached: false };
  expect(fromOutside(service)).toMatchObject({
    state: "ok",
    text: expect.stringMatching(/^own user: .*neither read nor write \/var\/lib\/mcpx/),
    fix: "sudo -u mcpx mcpx doctor --data /var/lib/mcpx",
  });
  expect(fromOutside({ ...service, isReached: true })).toMatchObject({
    state: "warning",
    text: expect.stringContaining("you can reach /var/lib/mcpx"),
    fix: expect.stringContaining("sudo mcpx service install"),
  });
  expect(fromOutside({ ...service, uid: undefined })).toMatchObject({
    state: "warning",
    fix: "sudo mcpx service install",
  });
});
