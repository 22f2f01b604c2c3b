// Addresses for machines that watch over the gateway or check its signatures.
import { z } from "zod";
import type { Address } from "./address.ts";

const publicKey = z.strictObject({
  kty: z.literal("OKP"),
  crv: z.literal("Ed25519"),
  x: z.string(),
  kid: z.string(),
  alg: z.string().optional(),
  use: z.string().optional(),
});

export const operations: readonly Address[] = [
  {
    ...{
      method: "GET",
      path: "/healthz",
      access: "everybody",
      summary: "Liveness: 200 while the process answers",
    },
    answer: z.strictObject({ status: z.literal("ok") }),
  },
  {
    ...{
      method: "GET",
      path: "/readyz",
      access: "everybody",
      summary: "Readiness: 200 while the gateway accepts connections",
    },
    answer: z.strictObject({ status: z.enum(["ready", "not_ready"]) }),
    also: [503],
  },
  {
    ...{ method: "GET", path: "/metrics", access: "admin" },
    summary: "Metrics for Prometheus; open to programs on the same machine",
    answer: "text/plain",
  },
  {
    ...{ method: "GET", path: "/.well-known/jwks.json", access: "everybody" },
    summary: "The public keys with which this gateway's tokens are verified",
    answer: z.strictObject({ keys: z.array(publicKey) }),
  },
  {
    ...{ method: "GET", path: "/openapi.json", access: "everybody", summary: "This document" },
    answer: z.looseObject({ openapi: z.literal("3.1.0") }),
  },
  {
    ...{ method: "GET", path: "/envelope.schema.json", access: "everybody" },
    summary: "What participants of a room send each other, as a JSON Schema",
    answer: z.looseObject({ $schema: z.string() }),
  },
];
