// The peer: what a normal engineer writes with `ws`. It parses, stringifies once and loops over `send`; it keeps
// nothing, checks nothing and acknowledges nothing.
import { WebSocketServer } from "ws";
import { reportCpuWhenAsked } from "./server-process.ts";

const server = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: false });
server.on("connection", (socket) => {
  socket.on("message", (data) => {
    const text = JSON.stringify(JSON.parse(String(data)));
    for (const other of server.clients) if (other !== socket) other.send(text);
  });
});
server.on("listening", () => {
  const address = server.address();
  if (typeof address === "object" && address !== null) {
    process.send?.({ url: `http://127.0.0.1:${address.port}`, tokens: [] });
  }
});
reportCpuWhenAsked();
