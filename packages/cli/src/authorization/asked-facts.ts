// What a person sees of a client that asks: what it says of itself, what is known to be true, and what is proposed.
// Names are others' words: they are bounded here and shown so that nothing in them is unseen.
import { hash } from "node:crypto";
import type { Profiles } from "@mcpx/aggregator";
import type { JsonObject } from "@mcpx/protocol";
import type { Asked } from "./find-asked.ts";
import { placeOf } from "./redirects.ts";

const nameCharsMax = 64;
const defaultMs = 30 * 86_400_000;

type Client = Asked["client"];

/** What it calls itself; its id where it says nothing. */
export function clientNameOf({ clientName, clientId }: Pick<Client, "clientName" | "clientId">): string {
  const plain = (clientName ?? "").replace(/\p{Cc}|\p{Cf}|\p{Zl}|\p{Zp}/gu, "").trim();
  return (plain === "" ? clientId : plain).slice(0, nameCharsMax);
}

/** The same for every sign-in of a client, and for no other client. */
function participantFor({ clientName, clientId }: Pick<Client, "clientName" | "clientId">): string {
  const words = (clientName ?? "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, " ")
    .trim()
    .replaceAll(" ", "-")
    .slice(0, 40);
  return `${words === "" ? "client" : words}-${hash("sha256", clientId, "hex").slice(0, 6)}`;
}

export function askedFacts({ client, redirect, resource, place }: Asked, profiles: Profiles): JsonObject {
  const isDocument = client.clientId.startsWith("https://");
  const isRoom = place.kind === "room";
  const profile = place.kind === "profile" ? profiles.get(place.name ?? "") : undefined;
  return {
    client: {
      name: clientNameOf(client),
      ...(isDocument && { host: new URL(client.clientId).host, document: client.clientId }),
    },
    redirect: { ...placeOf(redirect) },
    resource,
    place: { ...place },
    profiles: [...profiles.values()].map(({ name, tools }) => ({ name, tools: [...tools] })),
    proposed: {
      participant: participantFor(client),
      tools: isRoom ? [] : place.kind === "tree" ? ["**"] : [...(profile?.tools ?? [])],
      topics: isRoom ? [place.name ?? ""] : [],
      level: "restricted",
      ttlMs: defaultMs,
    },
  };
}
