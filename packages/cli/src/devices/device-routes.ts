// For the operator: GET /admin/devices, the configured devices and how they are.
import { operatorRoute } from "@mcpx/aggregator";
import type { Audit, Identity, Route } from "@mcpx/host";
import type { OpenDevices } from "./open-devices.ts";

export interface DeviceRoutesOptions {
  identity: Pick<Identity, "tokens">;
  audit: Audit;
  devices: OpenDevices;
}

export function deviceRoutes({ identity, audit, devices }: DeviceRoutesOptions): Route[] {
  const list = () => ({ body: { devices: devices.facts() } });
  return [operatorRoute({ identity, audit }, "GET", "/admin/devices", list)];
}
