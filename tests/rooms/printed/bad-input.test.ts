// Every printed message with one field missing, given twice, or of another type: it is answered with an error that names
// the field, or accepted because a rule says so. What is refused reaches nobody, and the connection goes on.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../support/test-server.ts";
import { allSent, type Printed } from "./messages.ts";
import { type Stage, setStage } from "./stage.ts";

let server: TestServer;
beforeAll(async () => {
  const wide = 100_000;
  server = await startTestServer({
    limits: {
      faultsPerMinute: wide,
      proposalsPerMinute: wide,
      envelopesPerSecondFull: wide,
      envelopesPerSecondRestricted: wide,
      handshakesPerSecond: wide,
    },
  });
});
afterAll(() => server.stop());

type Fields = Record<string, unknown>;
interface Bad {
  /** `ts`, `payload.method`. */
  field: string;
  change: "missing" | "twice" | "number" | "text" | "list" | "object" | "null";
  text: string;
}

const others = {
  number: 4711,
  text: "no such thing!",
  list: [true],
  object: { odd: 1 },
  null: null,
} as const;

/** The faults of one object's fields; `wrap` puts the changed object's text back into its message. */
function faultsOf(fields: Fields, prefix: string, wrap: (text: string) => string): Bad[] {
  return Object.keys(fields).flatMap((name) => {
    const field = `${prefix}${name}`;
    const { [name]: value, ...rest } = fields;
    const twice = `${JSON.stringify(fields).slice(0, -1)},${JSON.stringify(name)}:${JSON.stringify(value)}}`;
    return [
      { field, change: "missing" as const, text: wrap(JSON.stringify(rest)) },
      { field, change: "twice" as const, text: wrap(twice) },
      ...Object.entries(others)
        .filter(([type]) => type !== typeOf(value))
        .map(([type, other]) => ({
          field,
          change: type as Bad["change"],
          text: wrap(JSON.stringify({ ...fields, [name]: other })),
        })),
    ];
  });
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return "list";
  return typeof value === "string" ? "text" : typeof value;
}

/** Under an id that no other fault of the same message has. */
function badOnes({ text }: Printed): Bad[] {
  const envelope: Fields = { ...JSON.parse(text), id: "REPLACED" };
  const withPayload = (payload: string) => {
    const { payload: _, ...rest } = envelope;
    return `${JSON.stringify(rest).slice(0, -1)},"payload":${payload}}`;
  };
  return [
    ...faultsOf(envelope, "", (changed) => changed),
    ...faultsOf(envelope.payload as Fields, "payload.", withPayload),
  ].map((bad) => ({ ...bad, text: bad.text.replaceAll("REPLACED", crypto.randomUUID()) }));
}

/** What is accepted all the same, and why. */
function isAccepted({ field, change }: Bad, printed: Printed): boolean {
  const { protocol, kind, payload } = JSON.parse(printed.text);
  const isResponse = Object.hasOwn(payload, "result");
  const isRequest = Object.hasOwn(payload, "jsonrpc") && Object.hasOwn(payload, "id") && !isResponse;
  const isLifecycle = kind.startsWith("mcpx.");
  const isChat = kind === "chat";
  const isProposal = /^mcp.proposal/.test(kind);
  switch (field) {
    // Filled in, or meaning nothing.
    case "ts":
    case "from":
      return change === "missing";
    case "id":
      return change === "missing" && protocol === "mcp-x/v0";
    // A broadcast; and a text may be anybody's id.
    case "to":
      return change === "missing" && !isRequest && !isUncorrelated(printed);
    case "correlation_id":
    case "correlationId":
      return change === "missing" && !isLifecycle && !isResponse;
    // A request without an id is a notification, and an answer's id is its own.
    case "payload.id":
      if (change === "missing") return isRequest && kind === "mcp";
      return (change === "number" || change === "text") && !isUncorrelated(printed);
    case "payload.params":
      return (change === "missing" && !isChatV0(payload) && !isProposal) || change === "object";
    case "payload.result":
      return change === "object";
    // Optional words of the sender; a reason is any text.
    case "payload.reason":
      return change === "missing" || change === "text";
    // Chat is only read: which of two counts matters to nobody.
    case "payload.format":
      return change === "missing" || change === "twice";
    case "payload.text":
      return isChat && change === "twice";
    case "payload.ttl_ms":
      return change === "missing" || change === "number";
    default:
      return false;
  }
}

/** A response that leaves it to the gateway to find its request. */
function isUncorrelated({ text, added }: Printed): boolean {
  return text.includes('"result"') && added?.includes("correlation_id") === true;
}

function isChatV0(payload: Fields): boolean {
  return payload.method === "notifications/chat/message";
}

/** Sends it, and says what came of it. */
async function outcomeOf({ sender, observer }: Stage, bad: Bad): Promise<{ said: string; wasSeen: boolean }> {
  sender.ws.send(bad.text);
  const answer = await sender.find(({ from }) => from === "system:gateway");
  // A good one goes through right behind it, and is the next thing everybody sees.
  const next = sender.say(`after ${bad.field}`);
  expect(await sender.outcome(next)).toBe("ack");
  await observer.find(({ id }) => id === next);
  const wasSeen = observer.texts
    .splice(0)
    .some((text) => !text.includes(next) && JSON.parse(text).from === sender.id);
  const { event, message, error } = answer.payload;
  return { said: event === "ack" ? "ack" : (error?.data.detail ?? message), wasSeen };
}

describe("[X0-4-6] [X0-4-1] printed messages with one field wrong", () => {
  test.each(allSent.map((printed, at) => ({ ...printed, at })))("$title", async ({ at, ...printed }) => {
    const found: string[] = [];
    let stage: Stage | undefined;
    for (const [number, bad] of badOnes(printed).entries()) {
      if (stage === undefined) {
        stage = await setStage(server, printed, `bad/${at}/${number}`);
        // The first envelope fixes the protocol; a bad one would close the connection. [X0-10-2]
        const hello = stage.sender.say("hello");
        await stage.observer.find(({ id }) => id === hello);
        await stage.sender.ack(hello);
        stage.observer.texts.length = 0;
      }
      const { said, wasSeen } = await outcomeOf(stage, bad);
      // Both spellings are one field.
      const name = bad.field.replace("payload.", "").replace("correlationId", "correlation");
      const isFine = isAccepted(bad, printed)
        ? said === "ack" && wasSeen
        : said !== "ack" && said.includes(name) && !wasSeen;
      // A response that does not name its request has ended it: the next one wants another.
      if (wasSeen && isUncorrelated(printed)) {
        await Promise.all([stage.sender.leave(), stage.observer.leave()]);
        stage = undefined;
      }
      if (!isFine) found.push(`${bad.field} ${bad.change}: ${said}${wasSeen ? " (seen)" : ""}`);
    }
    expect(found).toEqual([]);
  });
});
