// The wire breaks in the middle of a call. The call does not: it was made once, and its answer is found.
import assert from "node:assert/strict";
import { joinRoom } from "@mcpx/client";
import { McpServer } from "@modelcontextprotocol/server";

const { MCPX_URL: url = "http://127.0.0.1:6279", MCPX_TOKEN_OVEN = "", MCPX_TOKEN_CHEF = "" } = process.env;
await using oven = await joinRoom({ url, topic: "kitchen", token: MCPX_TOKEN_OVEN });
const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
const { promise: baked, resolve: finish } = Promise.withResolvers<void>();
let cakes = 0;
const server = new McpServer({ name: "oven", version: "1.0.0" });
server.registerTool("bake", {}, async () => {
  begin();
  await baked;
  cakes += 1;
  return { content: [{ type: "text", text: "a cake" }] };
});
await oven.serve(server);

const wires: WebSocket[] = [];
class Wire extends WebSocket {
  constructor(address: string) {
    super(address);
    wires.push(this);
  }
}
await using chef = await joinRoom({ url, topic: "kitchen", token: MCPX_TOKEN_CHEF, WebSocket: Wire });
chef.addEventListener("state", ({ detail }) => console.log(detail.state, detail.reason ?? ""));
const call = chef.peer("oven").callTool("bake");
await begun;
wires[0]?.close();
finish();
const { content } = await call;
assert.deepEqual(content, [{ type: "text", text: "a cake" }]);
assert.equal(cakes, 1, "nobody was asked twice");
assert.equal(wires.length, 2, "it came back on another wire");
console.log("done");
