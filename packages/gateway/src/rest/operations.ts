// /healthz, /readyz, /metrics and the public keys: for machines that watch over us.
import type { HttpRequest, HttpResponse, Metrics } from "@mcpx/host";
import type { Gateway } from "../room/gateway-state.ts";
import { adminOf } from "./caller.ts";

export function health(): HttpResponse {
  return { body: { status: "ok" } };
}

/** Without detail: it is open to everybody. [X0-5.1-3] */
export function readiness({ isDraining, hasFailed, isCutOff }: Gateway): HttpResponse {
  const isReady = !isDraining && !hasFailed && !isCutOff;
  return { status: isReady ? 200 : 503, body: { status: isReady ? "ready" : "not_ready" } };
}

export async function showMetrics(
  gateway: Gateway,
  metrics: Metrics,
  request: HttpRequest,
): Promise<HttpResponse> {
  if (!request.isLoopback) await adminOf(gateway, request);
  return { text: await metrics.text(), headers: { "content-type": metrics.contentType } };
}

export async function publicKeys({ identity }: Gateway): Promise<HttpResponse> {
  return { body: await identity.keys.jwks(), headers: { "cache-control": "public, max-age=60" } };
}
