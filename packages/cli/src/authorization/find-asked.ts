// The sign-in that a person looks at, found by the cookie of the browser it was begun in.
import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import type { HttpRequest } from "@mcpx/host";
import { McpxError } from "@mcpx/protocol";
import type { AuthorizationServer } from "./authorization-server.ts";
import { placeAt } from "./resources.ts";

/** A sign-in that waits for a person. */
export type Asked = Awaited<ReturnType<typeof findAsked>>;

export async function findAsked(server: AuthorizationServer, request: HttpRequest) {
  const provider = await server.at(request.origin);
  const pair = nodePair(request);
  const interaction = await provider.interactionDetails(...pair).catch(() => undefined);
  if (interaction === undefined || interaction.uid !== request.params.uid) throw isOver();
  const { client_id: id, redirect_uri: redirect, resource: wanted } = interaction.params;
  const client = await provider.Client.find(String(id));
  const resource = String(Array.isArray(wanted) ? wanted[0] : (wanted ?? `${request.origin}/mcp`));
  const place = placeAt(request.origin, resource);
  if (client === undefined || place === undefined) throw isOver();
  return { provider, pair, interaction, client, redirect: String(redirect), resource, place };
}

/** The library reads cookies from Node's own objects; nothing is sent with these. */
function nodePair({ headers }: HttpRequest): [IncomingMessage, ServerResponse] {
  const message = new IncomingMessage(new Socket());
  const { cookie, host } = headers;
  message.headers = { ...(cookie !== undefined && { cookie }), ...(host !== undefined && { host }) };
  return [message, new ServerResponse(message)];
}

export function isOver(): McpxError {
  return new McpxError("not_found", "this sign-in has ended, or was begun in another browser", {
    suggestion: "Begin again in the program that sent you here",
  });
}
