// For the operator: GET /admin/devices (the configured devices and how they are), GET /admin/devices/{segment}/frames
// (what goes over the line of one), POST /admin/devices/probe (who is on a line of this machine; nothing is called).
import { localRoute, operatorRoute } from "@mcpx/aggregator";
import { type FoundDevice, probeLine } from "@mcpx/devices";
import type { Audit, HttpRequest, Identity, Principal, Route } from "@mcpx/host";
import { isObject, type JsonObject, McpxError, quoteShort } from "@mcpx/protocol";
import { Failure } from "../framework/failure.ts";
import { entryFor } from "./entry-for.ts";
import { readGivenLine } from "./line-options.ts";
import type { OpenDevices } from "./open-devices.ts";

export interface DeviceRoutesOptions {
  identity: Pick<Identity, "tokens" | "secret">;
  audit: Audit;
  devices: Pick<OpenDevices, "facts" | "frames">;
  /** Where relative paths of sockets begin. */
  dir(): string;
}

const lineCharsMax = 500;
/** Bluetooth looks around for long. */
const probeMs = 20_000;

export function deviceRoutes(options: DeviceRoutesOptions): Route[] {
  const { devices } = options;
  const guard = options;
  const probe = createProbe(options);
  return [
    operatorRoute(guard, "GET", "/admin/devices", () => ({ body: { devices: devices.facts() } })),
    operatorRoute(guard, "GET", "/admin/devices/:segment/frames", (_by, { params, query }) => {
      const frames = devices.frames(params.segment ?? "", readAfter(query.get("after")));
      if (frames === undefined)
        throw new McpxError("not_found", `there is no device ${quoteShort(params.segment ?? "")}`);
      return { body: frames };
    }),
    // It opens ports and addresses of this machine.
    localRoute(guard, "POST", "/admin/devices/probe", async (by, request) => ({
      body: await probe(by, request),
    })),
  ];
}

function readAfter(text: string | null): number | undefined {
  if (text === null) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new McpxError("bad_request", "after must be the number of a frame");
}

/** One line at a time: a port has one owner, and each probe may take its whole time. */
function createProbe({ audit, dir }: DeviceRoutesOptions) {
  let isBusy = false;
  return async ({ id }: Principal, request: HttpRequest): Promise<JsonObject> => {
    const { line, username, password } = readProbe(await request.json());
    if (isBusy) throw new McpxError("too_many_connections", "another line is being probed");
    isBusy = true;
    const work = (async () => {
      try {
        await audit.recordNow({ action: "device.probe", actor: id ?? request.remoteAddress, subject: line });
        const env = { MCPX_MQTT_PASSWORD: password };
        return await probeLine(readGivenLine(line, { options: { username }, env, cwd: dir() }));
      } finally {
        isBusy = false;
      }
    })();
    const found = await inTime(work, line);
    return { line, found: found ?? null, entry: found === undefined ? null : entryFor(line, found) };
  };
}

function readProbe(body: unknown): { line: string; username?: string; password?: string } {
  const { line, username, password } = isObject(body) ? body : {};
  if (typeof line !== "string" || line === "" || line.length > lineCharsMax) {
    throw new McpxError("bad_request", `line must be a text of 1 to ${lineCharsMax} characters`);
  }
  return {
    line,
    ...(typeof username === "string" && username !== "" && { username }),
    ...(typeof password === "string" && password !== "" && { password }),
  };
}

async function inTime(
  work: Promise<FoundDevice | undefined>,
  line: string,
): Promise<FoundDevice | undefined> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new McpxError("timeout", `${line} did not open within ${probeMs / 1_000} s`)),
    probeMs,
  );
  try {
    return await Promise.race([work, late.promise]);
  } catch (error) {
    if (error instanceof Failure) throw new McpxError("bad_request", error.message);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
