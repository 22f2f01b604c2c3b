// Where a browser is led before a person has seen who asks. Anybody may register a client whose redirect is a site of
// theirs: an error that is answered by a redirect would make the gateway's address a link to that site (RFC 9700,
// 4.11.2). So errors go back only to a program on the person's own machine, and to where a person has already allowed
// this client to have its codes sent; all others are shown here.
import { faultPage } from "@mcpx/aggregator";
import type { HttpResponse } from "@mcpx/host";
import type { ConsentParts } from "./consents.ts";
import { placeOf, withoutQuery } from "./redirects.ts";

type Parts = Pick<ConsentParts, "store" | "clock">;

/** The answer itself where its redirect may be followed unseen, and a page that says what went wrong where it may not. */
export async function withoutUnseenRedirect(
  parts: Parts,
  client: string | null,
  answer: HttpResponse,
): Promise<HttpResponse> {
  // The page where a person decides has no host before it: it is ours.
  const target = URL.parse(answer.headers?.location ?? "");
  if (target === null || (await mayLeadTo(parts, client, target))) return answer;
  const { host } = placeOf(target.href);
  return faultPage(
    400,
    faultIn(target),
    `You are not sent back to ${host}: nobody has allowed this program anything yet. Begin again in the program that sent you here`,
  );
}

async function mayLeadTo({ store, clock }: Parts, client: string | null, target: URL): Promise<boolean> {
  if (placeOf(target.href).kind === "program") return true;
  const place = new URL(withoutQuery(target.href));
  // Where the library answers some response types.
  place.hash = "";
  const consents = await store.consents(clock.now());
  return consents.some((one) => one.client === client && one.redirect === place.href);
}

/** In the words of the library, which answers some response types behind a `#`. */
function faultIn({ searchParams, hash }: URL): string {
  const behind = new URLSearchParams(hash.slice(1));
  const read = (name: string) => searchParams.getAll(name).at(-1) ?? behind.get(name);
  return (read("error_description") ?? read("error") ?? "the request was refused").slice(0, 500);
}
