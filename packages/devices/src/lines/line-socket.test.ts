import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { socketLine } from "./line-socket.ts";

test("[AX-10.4-1] a line that is paused reads nothing, so that whoever floods it has to wait; then it goes on", async () => {
  const megabyte = new Uint8Array(1_048_576);
  const server = createServer((socket) => {
    // Whoever resets it has left it.
    socket.on("error", () => socket.destroy());
    for (let times = 0; times < 16; times += 1) socket.write(megabyte);
  });
  onTestFinished(() => void server.close());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  let bytes = 0;
  const line = await socketLine({ host: "127.0.0.1", port })({
    bytes: (piece) => {
      bytes += piece.length;
      if (bytes === piece.length) line.pause?.(300);
    },
    ended: () => {},
  });
  onTestFinished(() => line.close());
  await expect.poll(() => bytes).toBeGreaterThan(0);
  const before = bytes;
  await new Promise((resolve) => setTimeout(resolve, 150));
  expect(bytes).toBe(before);
  await expect.poll(() => bytes).toBe(16 * megabyte.length);
});
