// What a device says unasked, as its configuration names it: an event with its values, and the notification that the tree
// hears of it. A device is never believed about more than its values. Pure. [AX-12-1] [AX-10.4-1]
import type { JsonObject } from "@mcpx/protocol";
import { faultOfValues, type Values } from "../tools/field.ts";
import type { EventConfig } from "./device-config.ts";

export interface SaidEvent {
  event: EventConfig;
  values: Values;
}

/** `read` takes the values out of what was said. A string says why there is no such event. */
export function readEvent(
  events: readonly EventConfig[] | undefined,
  id: number,
  read: (event: EventConfig) => Values | string,
): SaidEvent | string {
  const event = events?.find((one) => one.id === id);
  if (event === undefined) return `an event ${id}, which is not configured`;
  const values = read(event);
  const fault = typeof values === "string" ? values : faultOfValues(event.fields ?? [], values);
  return fault === undefined
    ? { event, values: values as Values }
    : `event ${event.name} does not fit: ${fault}`;
}

/** Clients take a method that ends in `alarm` for a warning; the values stand apart from the names of the protocol. */
export function notificationOf({ event, values }: SaidEvent, eventId: string): JsonObject {
  return {
    jsonrpc: "2.0",
    method: event.alarm === true ? "notifications/alarm" : "notifications/event",
    params: {
      event: event.name,
      values,
      "x-mcpax-event-id": eventId,
      "x-mcpax-causal-parent": null,
    },
  };
}
