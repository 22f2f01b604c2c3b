import { expect, test } from "vitest";
import { createManualClock } from "../clock.ts";
import type { Principal } from "../principal.ts";
import { createTickets } from "./tickets.ts";

const clock = createManualClock();
const alice: Principal = {
  id: "alice",
  topics: ["demo", "lab/*"],
  levelMax: "full",
  tools: [],
  admin: false,
  expiresAt: clock.now() + 3_600_000,
  jti: "one",
  issuer: "gateway",
  tokenHash: "hash",
};

function open(revoked: readonly string[] = []) {
  return createTickets({ clock, isRevoked: (jti) => revoked.includes(jti), ticketMs: 30_000 });
}

const invalid = expect.objectContaining({ code: "ticket_invalid" });

test("[X0-5.1-1] a ticket stands for its principal, once", () => {
  const tickets = open();
  const { ticket, expiresAt } = tickets.issue(alice, "demo");
  expect(ticket).toMatch(/^[A-Za-z0-9_-]{43}$/);
  expect(expiresAt).toBe(clock.now() + 30_000);
  expect(tickets.redeem(ticket, "demo")).toBe(alice);
  expect(() => tickets.redeem(ticket, "demo")).toThrow(invalid);
});

test("[X0-5.1-1] a ticket ends after 30 s", () => {
  const tickets = open();
  const { ticket } = tickets.issue(alice, "demo");
  const { ticket: late } = tickets.issue(alice, "demo");
  clock.advance(29_999);
  expect(tickets.redeem(ticket, "demo")).toBe(alice);
  clock.advance(1);
  expect(() => tickets.redeem(late, "demo")).toThrow(invalid);
});

test("[X0-5.1-1] a ticket is for one topic, and is spent at the wrong endpoint too", () => {
  const tickets = open();
  const { ticket } = tickets.issue(alice, "demo");
  expect(() => tickets.redeem(ticket, "lab/1")).toThrow(invalid);
  expect(() => tickets.redeem(ticket, "demo")).toThrow(invalid);
});

test("[X0-5.1-1] made-up tickets are nothing", () => {
  const tickets = open();
  tickets.issue(alice, "demo");
  for (const ticket of ["", "x", "A".repeat(43), "A".repeat(1_000_000), "__proto__"]) {
    expect(() => tickets.redeem(ticket, "demo")).toThrow(invalid);
  }
});

test("[X0-5.1-3] a topic the token does not cover gives no ticket", () => {
  expect(() => open().issue(alice, "vault")).toThrow(expect.objectContaining({ code: "topic_forbidden" }));
});

test("a token that was revoked or ended meanwhile takes its tickets along", () => {
  const revoked: string[] = [];
  const tickets = open(revoked);
  const { ticket } = tickets.issue(alice, "demo");
  revoked.push("one");
  expect(() => tickets.redeem(ticket, "demo")).toThrow(expect.objectContaining({ code: "token_revoked" }));
  const brief = { ...alice, jti: "two", expiresAt: clock.now() + 1_000 };
  const { ticket: second } = tickets.issue(brief, "demo");
  clock.advance(1_000);
  expect(() => tickets.redeem(second, "demo")).toThrow(expect.objectContaining({ code: "token_expired" }));
});

test("one token cannot hold more than a few tickets, and all together are bounded", () => {
  const tickets = open();
  const full = expect.objectContaining({ code: "rate_limited" });
  for (let i = 0; i < 32; i += 1) tickets.issue(alice, "demo");
  expect(() => tickets.issue(alice, "demo")).toThrow(full);
  for (let i = 0; i < 10_000 - 32; i += 1) tickets.issue({ ...alice, tokenHash: `t${i}` }, "demo");
  expect(() => tickets.issue({ ...alice, tokenHash: "one more" }, "demo")).toThrow(full);
  clock.advance(30_000);
  expect(tickets.issue(alice, "demo").ticket).toBeTypeOf("string");
});
