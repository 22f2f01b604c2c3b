// Whatever is configured between request, approval and dispatch: a server gets, byte for byte, what was signed for it,
// or it gets nothing.
import { canonicalJson, type JsonObject } from "@mcpx/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import { inProcessServer } from "../testing/in-process-server.ts";
import { overridesOf } from "../testing/overrides-of.ts";
import { type SignedScene, signedScene, type Terms, wipe } from "./testing/signed-calls.ts";

interface Configuration {
  fixed: JsonObject | undefined;
  name: "wipe" | "erase" | undefined;
  isEnabled: boolean;
  server: "a" | "b";
  args: string;
  description: string;
  rule: "deny" | "ask" | "allow" | undefined;
  isPanic: boolean;
}

const configurations = fc.record<Configuration>({
  fixed: fc.constantFrom(undefined, undefined, { to: "A" }, { to: "B" }, { n: 1 }, { "": 1e3, to: 2.5 }),
  name: fc.constantFrom(undefined, undefined, "wipe", "erase"),
  isEnabled: fc.constantFrom(true, true, true, false),
  server: fc.constantFrom("a", "a", "b"),
  args: fc.constantFrom("", "", "--force"),
  description: fc.constantFrom("", "", "other"),
  rule: fc.constantFrom(undefined, undefined, "ask", "allow", "deny"),
  isPanic: fc.boolean(),
});

/** Often none. */
const changes = fc.option(configurations, { freq: 2, nil: undefined });

const calls = fc.dictionary(fc.constantFrom("n", "to", "x", "ü"), fc.jsonValue({ maxDepth: 2 }), {
  maxKeys: 3,
});

test("[B-SIGN-1] a random walk of configurations: what arrives is what was signed", async () => {
  const sent = { count: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(configurations, calls, changes, changes), {
        minLength: 1,
        maxLength: 4,
      }),
      async (steps) => {
        const scene = signedScene();
        const second = inProcessServer({ tools: [wipe()] });
        const arrived = arrivals(scene, second);
        for (const [asked, given, meanwhile, late] of steps) {
          apply(scene, second, asked);
          const terms = await stopped(scene, given);
          if (meanwhile !== undefined) apply(scene, second, meanwhile);
          if (terms === undefined) continue;
          const proof = await scene.sign(terms);
          if (late !== undefined) apply(scene, second, late);
          arrived();
          await scene
            .ask(
              "mcpax/confirm",
              { confirmation_id: terms.confirmation_id, proof },
              { principal: { id: "boss" } },
            )
            .catch(() => undefined);
          const news = arrived();
          const gate = await scene.gates.store.find(terms.confirmation_id);
          if (news.length === 0) {
            expect(gate?.status).toBe("refused");
            sent.refused += 1;
            continue;
          }
          sent.count += 1;
          expect(news).toEqual([
            { server: asked.server, name: terms.server?.tool, arguments: canonicalJson(terms.arguments) },
          ]);
          expect(gate?.status).toBe("done");
        }
      },
    ),
    { seed: 11, numRuns: 60 },
  );
  // Neither side of it is empty.
  expect(sent.count).toBeGreaterThan(10);
  expect(sent.refused).toBeGreaterThan(10);
});

function apply(
  scene: SignedScene,
  second: ReturnType<typeof inProcessServer>,
  configuration: Configuration,
): void {
  const { fixed, name, isEnabled, server, args, description, rule, isPanic } = configuration;
  const { open } = server === "a" ? scene.server : second;
  scene.retool([wipe(description === "" ? {} : { description })]);
  scene.configure({
    open,
    identity: () => ({ kind: "stdio", facts: { command: server, args } }),
    overrides: overridesOf({ wipe: { enabled: isEnabled, name, arguments: fixed } }),
  });
  scene.rules.splice(0, scene.rules.length, ...(rule === undefined ? [] : [{ tools: "s.*", action: rule }]));
  scene.gates.isPanic = isPanic;
}

/** `undefined` where it is not there, denied, or let go without anybody. */
async function stopped(scene: SignedScene, args: JsonObject): Promise<Terms | undefined> {
  const asked = scene.ask("tools/call", { name: "s.wipe", arguments: args });
  const { structuredContent } = await asked.catch((): JsonObject => ({}));
  const terms = structuredContent as Terms | undefined;
  return terms?.status === "confirmation_required" ? terms : undefined;
}

/** What either server was called with since the last look. */
function arrivals(scene: SignedScene, second: ReturnType<typeof inProcessServer>) {
  const seen = { a: 0, b: 0 };
  const since = (server: "a" | "b", { asked }: Pick<typeof second, "asked">) => {
    const news = asked.slice(seen[server]);
    seen[server] = asked.length;
    return news
      .filter(({ method }) => method === "tools/call")
      .map(({ params }) => ({ server, name: params.name, arguments: canonicalJson(params.arguments) }));
  };
  return () => [...since("a", scene.server), ...since("b", second)];
}
