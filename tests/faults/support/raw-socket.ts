// A bare TCP socket that can shake hands: for clients that misbehave, or are too many for anything heavier.
import { randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";

/** The handshake's request, whole. */
function handshake(url: string, topic: string, token: string): string {
  const lines = [
    `GET /v0/ws?topic=${topic} HTTP/1.1`,
    `Host: ${new URL(url).host}`,
    "Upgrade: websocket",
    "Connection: Upgrade",
    `Sec-WebSocket-Key: ${randomBytes(16).toString("base64")}`,
    "Sec-WebSocket-Version: 13",
    `Authorization: Bearer ${token}`,
  ];
  return `${lines.join("\r\n")}\r\n\r\n`;
}

export async function openSocket(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  await new Promise((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", reject);
  });
  return socket;
}

/** Shakes hands; resolves with the socket and the status it was answered. */
export async function rawJoin(
  url: string,
  topic: string,
  token: string,
): Promise<{ socket: Socket; status: number; head: string }> {
  const socket = await openSocket(url);
  socket.write(handshake(url, topic, token));
  const first = await new Promise<Buffer>((resolve, reject) => {
    socket.once("data", resolve);
    socket.once("close", () => reject(new Error("closed before it was answered")));
  });
  return { socket, status: Number(first.toString("latin1", 9, 12)), head: first.toString("latin1") };
}
