// A line over an MQTT broker, for devices that speak JSON: one message is one write and one piece of what is heard.
// [AX-8.1-5]
import type { OpenLine } from "./line.ts";
import { loadOptional } from "./optional.ts";

export interface MqttAddress {
  /** `mqtt://host:1883`, `mqtts://host:8883`. */
  url: string;
  /** The device's: 1 to 63 characters of a-z 0-9 _ -. */
  name: string;
  /** `mcpx/devices` unless given. */
  prefix?: string | undefined;
  username?: string | undefined;
  password?: string | undefined;
}

const connectMs = 5_000;
const nameLike = /^[a-z0-9_-]{1,63}$/;
/** Without wildcards, and without a level that is empty. */
const prefixLike = /^[\w-]{1,63}(?:\/[\w-]{1,63}){0,7}$/;

export function mqttLine({ url, name, prefix = "mcpx/devices", username, password }: MqttAddress): OpenLine {
  if (!nameLike.test(name)) throw new RangeError("a device's name is 1 to 63 characters of a-z 0-9 _ -");
  if (!prefixLike.test(prefix)) throw new RangeError("a prefix has 1 to 8 levels of A-Z a-z 0-9 _ -");
  const [down, up, gone] = ["down", "up", "gone"].map((last) => `${prefix}/${name}/${last}`) as [
    string,
    string,
    string,
  ];
  return async (taker) => {
    const { connectAsync } = await loadOptional("mqtt", "an MQTT line", () => import("mqtt"));
    // Coming back is the device's doing, not the line's.
    const client = await connectAsync(url, {
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password }),
      reconnectPeriod: 0,
      connectTimeout: connectMs,
    });
    // Small messages would wait for each other otherwise: 40 ms a call.
    (client.stream as { setNoDelay?: (isOn: boolean) => void }).setNoDelay?.(true);
    let isOver = false;
    const end = (why: string) => {
      if (isOver) return;
      isOver = true;
      client.end(true);
      taker.ended(why);
    };
    client.on("message", (topic, payload, { retain }) => {
      // A retained message is from an earlier time.
      if (isOver || retain) return;
      if (topic === gone) end("the device is gone");
      else if (topic === up) taker.bytes(payload);
    });
    client.on("error", (error) => end(error.message));
    client.on("close", () => end("the broker has closed it"));
    const close = () => {
      isOver = true;
      client.end(true);
    };
    try {
      await client.subscribeAsync([up, gone], { qos: 1 });
    } catch (error) {
      close();
      throw error;
    }
    return {
      write: (bytes) => {
        if (isOver || !client.connected) return false;
        client.publish(down, Buffer.from(bytes), { qos: 1, retain: false });
        return true;
      },
      close,
    };
  };
}
