// GET /openapi.json, what the REST interface takes and answers, and GET /envelope.schema.json, what is said in rooms. The
// same for everybody, so each is made once.
import type { Route } from "@mcpx/host";
import { envelopeSchema, openApi } from "./document.ts";

export function openApiRoutes(): Route[] {
  return [made("/openapi.json", openApi), made("/envelope.schema.json", envelopeSchema)];
}

function made(path: string, make: () => object): Route {
  let text: string | undefined;
  const headers = {
    "content-type": "application/json; charset=utf-8",
    "cache-control": "public, max-age=60",
  };
  return {
    method: "GET",
    path,
    handle: () => {
      text ??= JSON.stringify(make());
      return { text, headers };
    },
  };
}
