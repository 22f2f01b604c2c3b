import { createManualClock } from "@mcpx/host";
import { expect, test } from "vitest";
import type { Personal } from "./sign-in-state.ts";
import { createSignInTickets, type SignInTicket } from "./sign-in-tickets.ts";

const personal: Personal = {
  target: () => ({ url: "https://notes.example/mcp", config: {} }),
  open: () => () => Promise.reject(new Error("not here")),
};
const invalid = expect.objectContaining({ code: "ticket_invalid" });

function ticketOf(name: string, more: Partial<SignInTicket> = {}): SignInTicket {
  return { server: "notes", personal, person: { name, issuer: "here" }, ...more };
}

test("while it is fresh a user is given the same address again, and nobody else is", () => {
  const clock = createManualClock();
  const tickets = createSignInTickets(clock);
  const first = tickets.give(ticketOf("alice"));
  expect(first).toMatch(/^[\w-]{43}$/);
  expect(tickets.give(ticketOf("alice"))).toBe(first);
  const others = [
    tickets.give(ticketOf("bob")),
    tickets.give(ticketOf("alice", { server: "mail" })),
    tickets.give(ticketOf("alice", { person: { name: "alice", issuer: "elsewhere" } })),
    tickets.give(ticketOf("alice", { personal: { ...personal } })),
  ];
  expect(new Set([first, ...others]).size).toBe(5);
  expect(tickets.find(others[0])).toMatchObject({ server: "notes", person: { name: "bob" } });
});

test("who is shown one has at least five minutes, and nobody more than ten", () => {
  const clock = createManualClock();
  const tickets = createSignInTickets(clock);
  const first = tickets.give(ticketOf("alice"));
  clock.advance(300_000);
  const second = tickets.give(ticketOf("alice"));
  expect(second).not.toBe(first);
  clock.advance(299_999);
  expect(tickets.find(first)).toMatchObject({ person: { name: "alice" } });
  clock.advance(1);
  expect(() => tickets.find(first)).toThrow(invalid);
  expect(tickets.find(second)).toMatchObject({ person: { name: "alice" } });
});

test("who takes it has it alone; given back, it can be tried five times in all, and is not given to anybody", () => {
  const tickets = createSignInTickets(createManualClock());
  const text = tickets.give(ticketOf("alice"));
  for (let i = 0; i < 5; i += 1) {
    const { giveBack } = tickets.take(text);
    expect(() => tickets.take(text)).toThrow(invalid);
    expect(tickets.give(ticketOf("alice"))).not.toBe(text);
    giveBack();
  }
  expect(() => tickets.take(text)).toThrow(invalid);
});

test("what is none is none", () => {
  const tickets = createSignInTickets(createManualClock());
  tickets.give(ticketOf("alice"));
  for (const text of [undefined, "", "x".repeat(43), "x".repeat(100_000)])
    expect(() => tickets.find(text)).toThrow(invalid);
});

test("ten thousand are open at once, and no more until some have ended", () => {
  const clock = createManualClock();
  const tickets = createSignInTickets(clock);
  for (let i = 0; i < 10_000; i += 1) tickets.give(ticketOf(`user-${i}`));
  expect(() => tickets.give(ticketOf("alice"))).toThrow(expect.objectContaining({ code: "rate_limited" }));
  clock.advance(600_000);
  expect(tickets.give(ticketOf("alice"))).toMatch(/^[\w-]{43}$/);
});
