// A PLC and the MCP server before it: the PLC speaks Modbus TCP and nothing else, the server translates.
import { once } from "node:events";
import { harmless } from "@mcpx/protocol";
import { McpServer } from "@modelcontextprotocol/server";
import ModbusRTU, { ServerTCP } from "modbus-serial";

const unit = 1;

export interface Plc extends AsyncDisposable {
  readonly port: number;
  /** How many requests have come over the bus. */
  readonly requests: () => number;
}

/** Its register 0 has the pressure, in mbar. */
export async function startPlc(registers: readonly number[]): Promise<Plc> {
  let requests = 0;
  const bus = new ServerTCP(
    {
      getHoldingRegister: (address: number) => {
        requests += 1;
        const value = registers[address];
        // 2 is Modbus' own number for an address that is not there.
        if (value === undefined) throw Object.assign(new Error("no such register"), { modbusErrorCode: 2 });
        return value;
      },
    },
    { host: "127.0.0.1", port: 0, unitID: unit },
  );
  await once(bus, "initialized");
  // biome-ignore lint/suspicious/noExplicitAny: the package does not say which port it was given
  const { port } = (bus as any)._server.address() as { port: number };
  return {
    port,
    requests: () => requests,
    [Symbol.asyncDispose]: () => new Promise((resolve) => bus.close(() => resolve())),
  };
}

export async function connectPlc(port: number): Promise<{ server: McpServer } & Disposable> {
  const client = new ModbusRTU.default();
  await client.connectTCP("127.0.0.1", { port });
  client.setID(unit);
  client.setTimeout(2_000);
  const server = new McpServer({ name: "plc", version: "1.0.0" });
  const _meta = { "x-mcpax-capability": harmless };
  server.registerTool("read_pressure", { description: "Reads the pressure in mbar", _meta }, async () => {
    const { data } = await client.readHoldingRegisters(0, 1);
    return { content: [{ type: "text", text: `${data[0]} mbar` }] };
  });
  return { server, [Symbol.dispose]: () => client.close(() => {}) };
}
