import { createECDH } from "node:crypto";
import { expect, test } from "vitest";
import { arePushKeys, encryptPush, pushBytesMax } from "./encrypt-push.ts";

const keys = {
  p256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
  auth: "BTBZMqHH6r4Tts7J_aSIgg",
};

test("[B-NOTIFY-1] the example of RFC 8291 comes out byte for byte", () => {
  const sender = createECDH("prime256v1");
  sender.setPrivateKey(Buffer.from("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw", "base64url"));
  const salt = Buffer.from("DGv6ra1nlYgDCS1FRnbzlw", "base64url");
  expect(
    encryptPush(keys, "When I grow up, I want to be a watermelon", sender, salt).toString("base64url"),
  ).toBe(
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN",
  );
});

test("each message has its own key and salt, and what is too long is refused", () => {
  const longest = "x".repeat(pushBytesMax);
  const [one, other] = [encryptPush(keys, longest), encryptPush(keys, longest)];
  expect(one.subarray(0, 86).equals(other.subarray(0, 86))).toBe(false);
  expect(one.length).toBe(4_096);
  expect(() => encryptPush(keys, `${longest}x`)).toThrow(RangeError);
});

test.each<[title: string, p256dh: string, auth: string, isGood: boolean]>([
  ["those of the document", keys.p256dh, keys.auth, true],
  ["a point that is not on the curve", Buffer.alloc(65, 4).toString("base64url"), keys.auth, false],
  [
    "a compressed point",
    Buffer.concat([Buffer.of(2), Buffer.alloc(32, 1)]).toString("base64url"),
    keys.auth,
    false,
  ],
  ["nothing", "", "", false],
  ["a short secret", keys.p256dh, "AAAA", false],
])("keys are checked before anything is sealed with them: %s", (_, p256dh, auth, isGood) => {
  expect(arePushKeys({ p256dh, auth })).toBe(isGood);
});
