import { expect, test } from "vitest";
import { bridgeChange, isNeeded, platformForms } from "./bridge-form.ts";

const draft = {
  name: " team ",
  platform: "slack",
  channel: " C1",
  room: "ops ",
  isForGuests: true,
  values: {},
};

test("a bridge is written with what its platform uses, and nothing that was typed for another", () => {
  const values = { token: "xoxb-1", appToken: " xapp-1 ", hsToken: "left over", url: "" };
  expect(bridgeChange({ ...draft, values })).toEqual({
    type: "bridge",
    name: "team",
    entry: {
      platform: "slack",
      channels: { C1: "ops" },
      token: "xoxb-1",
      appToken: "xapp-1",
      unlinked: "guest",
    },
  });
  // Nobody speaks through a notification.
  const { entry } = bridgeChange({ ...draft, platform: "ntfy", values: { url: "https://ntfy.sh" } });
  expect(entry).toEqual({ platform: "ntfy", channels: { C1: "ops" }, url: "https://ntfy.sh" });
});

test("what is secret is asked for as such, with a variable as its example", () => {
  for (const { fields } of Object.values(platformForms)) {
    for (const { key, isSecret = false, example } of fields) {
      expect(isSecret).toBe(/token|secret|password/i.test(key));
      if (isSecret) expect(example).toMatch(/^\$\{env:[A-Z_]+\}$/);
    }
  }
});

test("a component of an XMPP server needs its address, and is written as one", () => {
  const form = platformForms.xmpp?.fields ?? [];
  const needed = (values: Record<string, string>) =>
    form.filter((field) => isNeeded(field, values)).map(({ key }) => key);
  expect(needed({})).toEqual(["service", "username", "password"]);
  expect(needed({ component: "true" })).toEqual(["service", "domain", "username", "password"]);
  const values = { component: "true", service: "xmpp://127.0.0.1:5347", domain: "bridge.example.com" };
  expect(bridgeChange({ ...draft, platform: "xmpp", values }).entry).toMatchObject({
    ...{ component: true, service: "xmpp://127.0.0.1:5347", domain: "bridge.example.com" },
  });
  expect(bridgeChange({ ...draft, platform: "xmpp", values: { component: "" } }).entry).not.toHaveProperty(
    "component",
  );
});
