// What a client says of itself when it registers: only what means something here is kept, and it is bounded. Pure.
import { isObject, type JsonObject } from "@mcpx/protocol";
import { redirectFault, redirectsMax } from "./redirects.ts";

const nameCharsMax = 100;
const uriCharsMax = 500;
const grantTypes = ["authorization_code", "refresh_token"];
const authMethods = ["none", "client_secret_basic", "client_secret_post"];

export function readRegistration(given: unknown): { metadata: JsonObject } | { fault: string } {
  const {
    redirect_uris: redirects,
    client_name: name,
    client_uri: uri,
    ...more
  } = isObject(given) ? given : {};
  if (!Array.isArray(redirects) || redirects.length === 0 || redirects.length > redirectsMax)
    return { fault: `redirect_uris must be a list of 1 to ${redirectsMax} addresses` };
  for (const one of redirects) {
    const fault = redirectFault(one);
    if (fault !== undefined) return { fault: `${String(one).slice(0, 100)}: a redirect ${fault}` };
  }
  const method = more.token_endpoint_auth_method;
  const asked = Array.isArray(more.grant_types) ? more.grant_types : grantTypes;
  return {
    metadata: {
      redirect_uris: redirects,
      application_type: "native",
      response_types: ["code"],
      grant_types: grantTypes.filter((type) => type === "authorization_code" || asked.includes(type)),
      ...(typeof name === "string" && name !== "" && { client_name: name.slice(0, nameCharsMax) }),
      ...(typeof uri === "string" && isPlainUri(uri) && { client_uri: uri }),
      ...(authMethods.includes(String(method)) && { token_endpoint_auth_method: String(method) }),
    },
  };
}

function isPlainUri(uri: string): boolean {
  return uri.length <= uriCharsMax && URL.parse(uri)?.protocol === "https:";
}
