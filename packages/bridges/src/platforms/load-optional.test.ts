import { expect, test } from "vitest";
import { loadOptional } from "./load-optional.ts";

test("a library that is not installed is named with what to type, one that is there is loaded", async () => {
  const missing: string = "@mcpx/there-is-no-such-package";
  await expect(loadOptional(missing, () => import(missing))).rejects.toMatchObject({
    fault: "refused",
    message: `this bridge needs the package ${missing}; install it with: npm install ${missing}`,
  });
  const broken = async () => {
    throw new SyntaxError("unexpected token");
  };
  await expect(loadOptional("@slack/web-api", broken)).rejects.toThrow("could not load @slack/web-api");
  expect(await loadOptional("@slack/web-api", () => import("@slack/web-api"))).toHaveProperty("WebClient");
});
