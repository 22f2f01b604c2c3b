// A WebSocket whose wire can be cut: no close frame, no goodbye.
import WebSocket from "ws";

export function cuttable() {
  const open = new Set<WebSocket>();
  const Cuttable = class extends WebSocket {
    constructor(url: string) {
      super(url);
      open.add(this);
      this.on("close", () => open.delete(this));
    }
  };
  return {
    WebSocket: Cuttable as never,
    cut: () => {
      for (const socket of open) socket.terminate();
    },
  };
}
