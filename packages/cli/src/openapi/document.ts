// The REST interface as a document of OpenAPI 3.1, made of what is said of each address. Pure.
import { errorTable } from "@mcpx/protocol";
import { z } from "zod";
import { type Address, type Parameter, problem } from "./address.ts";
import { administration } from "./administration.ts";
import { envelope } from "./envelopes.ts";
import { gates } from "./gates.ts";
import { operations } from "./operations.ts";
import { rooms } from "./rooms.ts";
import { tree } from "./tree.ts";

const sections = {
  Rooms: { addresses: rooms, about: "Addresses for participants of rooms." },
  Administration: { addresses: administration, about: "Participants, tokens and the audit, for admins." },
  Gates: { addresses: gates, about: "Calls that wait for a person." },
  Tree: { addresses: tree, about: "Servers, tools, devices, bridges and logins." },
  Operations: { addresses: operations, about: "Addresses for monitoring, and public keys." },
} satisfies Record<string, { addresses: readonly Address[]; about: string }>;

/** All addresses of the document. */
export const addresses: readonly Address[] = Object.values(sections).flatMap((one) => one.addresses);

export function openApi(): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [tag, { addresses: ofSection }] of Object.entries(sections)) {
    for (const address of ofSection) {
      const path = address.path.replace(/:(\w+)/g, "{$1}");
      paths[path] = { ...paths[path], [address.method.toLowerCase()]: operationOf(address, tag) };
    }
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "mcpx",
      // Of this interface, as it stands in its paths. Which build answers is nobody's business.
      version: "v0",
      description:
        "Rooms, administration and operations of an mcpx gateway. The tree is MCP, at /mcp. WebSockets of rooms are at /v0/ws; what is said there is the schema Envelope. The console has the same addresses under /console/api/admin.",
    },
    tags: Object.entries(sections).map(([name, { about }]) => ({ name, description: about })),
    paths,
    components: {
      securitySchemes: {
        token: { type: "http", scheme: "bearer", bearerFormat: "JWT", description: "Made by `mcpx token`." },
      },
      schemas: { Envelope: jsonSchema(envelope), Problem: problemSchema() },
      responses: {
        Problem: {
          description: "The request was refused: docs/ERRORS.md explains the reason and what to do",
          content: { "application/json": { schema: { $ref: "#/components/schemas/Problem" } } },
        },
      },
    },
  };
}

function operationOf(address: Address, tag: string): Record<string, unknown> {
  const { method, path, summary, access, query = {}, body, status = 200, answer, also = [] } = address;
  const isText = typeof answer === "string";
  const content = isText
    ? { [answer]: { schema: { type: "string" } } }
    : { "application/json": { schema: jsonSchema(answer) } };
  const good = [status, ...also].map((one) => [one, { description: meaningOf(one), content }]);
  return {
    operationId: idOf(method, path),
    tags: [tag],
    summary,
    ...(access === "here" && {
      description: "Only at the gateway's machine or at its console: a token alone is refused.",
    }),
    security: access === "everybody" ? [] : [{ token: [] }],
    parameters: [
      ...[...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
        ...{ name, in: "path", required: true, schema: { type: "string" } },
      })),
      ...Object.entries(query).map(([name, { schema, about }]: [string, Parameter]) => ({
        ...{ name, in: "query", description: about, schema: jsonSchema(schema) },
      })),
    ],
    ...(body && {
      requestBody: { required: true, content: { "application/json": { schema: jsonSchema(body) } } },
    }),
    responses: { ...Object.fromEntries(good), default: { $ref: "#/components/responses/Problem" } },
  };
}

const meanings: Readonly<Record<number, string>> = {
  200: "Done",
  201: "Created",
  202: "The change waits for an approver's signature",
  503: "The gateway is not ready",
};

function meaningOf(status: number): string {
  return meanings[status] ?? "Done";
}

/** `GET /admin/audit/chain` is getAdminAuditChain. */
function idOf(method: string, path: string): string {
  const words = path.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}

/** For readers: further fields may come, and are no reason to refuse an answer. */
/** Of envelopes alone, for those who speak the WebSockets of rooms. */
export function envelopeSchema(): Record<string, unknown> {
  const { $schema, ...made } = z.toJSONSchema(envelope);
  return { $schema, title: "An envelope of a room", ...made };
}

function jsonSchema(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _, ...made } = z.toJSONSchema(schema, {
    override({ jsonSchema: one }) {
      if (one.additionalProperties === false) delete one.additionalProperties;
    },
  });
  return made;
}

function problemSchema(): Record<string, unknown> {
  const reasons = Object.keys(errorTable).sort();
  const schema = jsonSchema(problem) as {
    properties: { error: { properties: { reason: Record<string, unknown> } } };
  };
  schema.properties.error.properties.reason.examples = reasons;
  return schema;
}
