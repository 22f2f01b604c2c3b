// What a user who has not signed in talks to instead of the server: one tool, which says where to sign in, and shows it
// where the client can.
import { randomUUID } from "node:crypto";
import { harmless, isObject, type JsonObject, McpxError } from "@mcpx/protocol";
import { answeringLink } from "../../links/answering-link.ts";
import type { Link, LinkRequest } from "../../links/link.ts";
import type { Person } from "./person.ts";
import type { Personal, SignInState } from "./sign-in-state.ts";
import { untilSignedIn } from "./until-signed-in.ts";

export const signInTool = "sign_in";

export interface SignInPlace {
  signIns: SignInState;
  /** The server's name. */
  server: string;
  personal: Personal;
  person: Person;
}

/** The first visitor of the address is signed in by it, so a room must not see it. */
const elsewhere =
  "Connect a client of your own to this gateway at /mcp and sign in there: everybody in this room reads what is said here.";
/** Less than what clients wait for a call. */
const holdMs = 30_000;

/** `place` is absent where nobody can sign in: then there is nothing to see at all, and `why` is said. */
export function signInLink(name: string, place: SignInPlace | undefined, why: string): Link {
  return answeringLink(async (request) => {
    if (request.method === "tools/list") return { tools: place === undefined ? [] : [itemOf(place)] };
    if (place === undefined) throw new McpxError("server_unauthorised", `${name}: ${why}`);
    if (request.method === "tools/call") return await answer(place, request);
    throw new McpxError("server_unauthorised", notYet(place), {
      suggestion: request.caller?.isPublic ? elsewhere : `Open ${signInAddress(place)}`,
    });
  });
}

/** Where this user signs in; nobody else is to be told. */
export function signInAddress({ signIns, server, personal, person }: SignInPlace): string {
  return new URL(`/oauth/start/${signIns.tickets.give({ server, personal, person })}`, signIns.base()).href;
}

function itemOf({ server, person }: SignInPlace): JsonObject {
  return {
    name: signInTool,
    title: `Sign in to ${server}`,
    description: `${server} shows its tools to those who have signed in, and ${person.name} has not. Gives the address at which ${person.name} signs in, in a browser.`,
    inputSchema: { type: "object", properties: {}, additionalProperties: false },
    annotations: { readOnlyHint: true, openWorldHint: false },
    _meta: { "x-mcpax-capability": { ...harmless, latency_class: "slow" } },
  };
}

async function answer(place: SignInPlace, request: LinkRequest): Promise<JsonObject> {
  const { signIns, server, person } = place;
  if (request.caller?.isPublic) {
    return said(`${notYet(place)}. ${elsewhere}`, true, { status: "sign_in_required", server });
  }
  const url = signInAddress(place);
  const elicitationId = randomUUID();
  const isShown = canBeShown(request) && (await show(place, request, { url, elicitationId }));
  const wish = { server, person, ms: holdMs, signal: request.signal };
  if (isShown && (await untilSignedIn(signIns, wish))) {
    // Clients of the new era have been asked by an answer, and know it by the next.
    if (request.caller?.era === "legacy")
      request.notify("notifications/elicitation/complete", { elicitationId });
    const text = `${person.name} is signed in to ${server}. List the tools again.`;
    return said(text, false, { status: "signed_in", server });
  }
  const text = `${notYet(place)}. Open this address in a browser, then call again: ${url}`;
  return said(text, true, { status: "sign_in_required", server, sign_in_url: url });
}

function notYet({ server, person }: SignInPlace): string {
  return `${server}: ${person.name} has not signed in there`;
}

/** Clients that open addresses for their users. */
function canBeShown({ capabilities: { elicitation } }: LinkRequest): boolean {
  return isObject(elicitation) && isObject(elicitation.url);
}

/** False where the user does not want to, or cannot be asked. */
async function show(
  { signIns, server, person }: SignInPlace,
  { ask }: LinkRequest,
  { url, elicitationId }: { url: string; elicitationId: string },
): Promise<boolean> {
  const message = `Sign in to ${server}, as ${person.name}`;
  const params = { mode: "url", elicitationId, url, message };
  try {
    const { sign_in: result } = await ask({ sign_in: { method: "elicitation/create", params } });
    return result?.action === "accept";
  } catch (error) {
    signIns.log.debug({ err: error, server }, "could not show a sign-in address to the client");
    return false;
  }
}

function said(text: string, isError: boolean, structuredContent: JsonObject): JsonObject {
  return { resultType: "complete", content: [{ type: "text", text }], structuredContent, isError };
}
