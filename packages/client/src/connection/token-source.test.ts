import { expect, test } from "vitest";
import { TokenSource } from "./token-source.ts";

test("a provider is asked one question at a time, and its late answer is kept for who comes next", async () => {
  const answers: PromiseWithResolvers<string>[] = [];
  const tokenProvider = () => {
    const answer = Promise.withResolvers<string>();
    answers.push(answer);
    return answer.promise;
  };
  const tokens = new TokenSource({ tokenProvider });
  const asked = [tokens.current(), tokens.renew(), tokens.current()];
  expect(answers.length).toBe(1);
  answers[0]?.reject(new Error("the issuer is away"));
  for (const one of asked) await expect(one).rejects.toMatchObject({ reason: "network" });
  const again = tokens.current();
  expect(answers.length).toBe(2);
  answers[1]?.resolve("second");
  expect([await again, await tokens.current()]).toEqual(["second", "second"]);
  void tokens.renew();
  expect(answers.length).toBe(3);
});
