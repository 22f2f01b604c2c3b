// The environment variables of OpenTelemetry that count here. Pure.
import { type SamplerName, samplerNames } from "./sampler.ts";

export interface OtelSettings {
  /** Where spans are posted. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly resource: Readonly<Record<string, string>>;
  readonly sampler: SamplerName;
  readonly samplerRatio: number;
  readonly delayMs: number;
  readonly queueMax: number;
  readonly batchMax: number;
}

type Env = Readonly<Record<string, string | undefined>>;

/** Nothing where nobody asks for traces. Throws with the variable, its value and what it may be. */
export function otelSettings(env: Env, version: string): OtelSettings | undefined {
  const url = urlOf(env);
  if (url === undefined) return undefined;
  const protocol = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? env.OTEL_EXPORTER_OTLP_PROTOCOL ?? "http/json";
  if (!["http/json", "http/protobuf"].includes(protocol))
    throw wrong(
      "OTEL_EXPORTER_OTLP_PROTOCOL",
      protocol,
      "mcpx sends traces as http/json, mostly to port 4318",
    );
  const sampler = env.OTEL_TRACES_SAMPLER ?? "parentbased_always_on";
  if (!isSampler(sampler))
    throw wrong("OTEL_TRACES_SAMPLER", sampler, `it is one of ${samplerNames.join(", ")}`);
  return {
    url,
    headers: pairsOf(env.OTEL_EXPORTER_OTLP_TRACES_HEADERS ?? env.OTEL_EXPORTER_OTLP_HEADERS),
    timeoutMs: numberOf(env, "OTEL_EXPORTER_OTLP_TIMEOUT", 10_000),
    resource: {
      "service.version": version,
      ...pairsOf(env.OTEL_RESOURCE_ATTRIBUTES),
      "service.name": serviceName(env),
    },
    sampler,
    samplerRatio: Math.min(1, numberOf(env, "OTEL_TRACES_SAMPLER_ARG", 1)),
    delayMs: numberOf(env, "OTEL_BSP_SCHEDULE_DELAY", 5_000),
    queueMax: numberOf(env, "OTEL_BSP_MAX_QUEUE_SIZE", 2_048),
    batchMax: numberOf(env, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 512),
  };
}

function urlOf(env: Env): string | undefined {
  const exporter = env.OTEL_TRACES_EXPORTER;
  if (env.OTEL_SDK_DISABLED?.toLowerCase() === "true" || exporter === "none") return undefined;
  if (exporter !== undefined && exporter !== "" && exporter !== "otlp")
    throw wrong("OTEL_TRACES_EXPORTER", exporter, "it is otlp or none");
  const base = env.OTEL_EXPORTER_OTLP_ENDPOINT || (exporter === "otlp" ? "http://localhost:4318" : undefined);
  const url = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || (base && `${base.replace(/\/$/, "")}/v1/traces`);
  if (!url) return undefined;
  if (!URL.canParse(url) || !["http:", "https:"].includes(new URL(url).protocol))
    throw wrong("OTEL_EXPORTER_OTLP_ENDPOINT", url, "it is an address like http://localhost:4318");
  return url;
}

function serviceName(env: Env): string {
  return env.OTEL_SERVICE_NAME || pairsOf(env.OTEL_RESOURCE_ATTRIBUTES)["service.name"] || "mcpx";
}

/** `key=value,key=value`, each value written as in an address. */
function pairsOf(text = ""): Record<string, string> {
  const pairs = text.split(",").map((pair) => pair.split(/=(.*)/s));
  return Object.fromEntries(
    pairs.flatMap(([key = "", value]) => (value === undefined ? [] : [[key.trim(), decoded(value.trim())]])),
  );
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    // Written as it is, with a percent sign of its own.
    return value;
  }
}

function numberOf(env: Env, name: string, otherwise: number): number {
  const text = env[name];
  if (text === undefined || text === "") return otherwise;
  const value = Number(text);
  if (!Number.isFinite(value) || value < 0) throw wrong(name, text, "it is a number, not below 0");
  return value;
}

function isSampler(name: string): name is SamplerName {
  return (samplerNames as readonly string[]).includes(name);
}

function wrong(variable: string, value: string, fix: string): Error {
  return new Error(`${variable} is ${JSON.stringify(value.slice(0, 100))}; ${fix}`);
}
