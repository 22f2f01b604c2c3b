// GET /openapi.json: what the REST interface takes and answers. The same for everybody, so it is made once.
import type { Route } from "@mcpx/host";
import { openApi } from "./document.ts";

export function openApiRoute(): Route {
  let text: string | undefined;
  const headers = {
    "content-type": "application/json; charset=utf-8",
    "cache-control": "public, max-age=60",
  };
  return {
    method: "GET",
    path: "/openapi.json",
    handle: () => {
      text ??= JSON.stringify(openApi());
      return { text, headers };
    },
  };
}
