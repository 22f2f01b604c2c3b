// Traces of tool calls, where the environment asks for them as OpenTelemetry says (`OTEL_…`).
import { createTraces, type Logger, type OtelSettings, otelSettings, type Traces } from "@mcpx/host";
import { Failure } from "../framework/failure.ts";
import { version } from "../framework/version.ts";

export function openTraces(env: NodeJS.ProcessEnv, log: Logger): Traces | undefined {
  const settings = readSettings(env);
  if (settings === undefined) return undefined;
  log.info({ url: settings.url, sampler: settings.sampler }, "sending traces");
  return createTraces(settings, log);
}

function readSettings(env: NodeJS.ProcessEnv): OtelSettings | undefined {
  try {
    return otelSettings(env, version);
  } catch (error) {
    throw new Failure((error as Error).message, "change the variable, or set OTEL_SDK_DISABLED=true");
  }
}
