import { createManualClock } from "@mcpx/host";
import { expect, test } from "vitest";
import { createEnrolments } from "./enrolments.ts";
import { checkNamed, named, originOf, rpIdOf } from "./where.ts";

const invalid = expect.objectContaining({ code: "ticket_invalid" });

test("an invitation ends after ten minutes", () => {
  const clock = createManualClock();
  const enrolments = createEnrolments(clock);
  const { ticket, expiresAt } = enrolments.invite("anna", "admin");
  expect(expiresAt).toBe(clock.now() + 600_000);
  clock.advance(599_999);
  expect(enrolments.find(ticket)).toMatchObject({ name: "anna", invitedBy: "admin" });
  clock.advance(1);
  expect(() => enrolments.find(ticket)).toThrow(invalid);
});

test("who takes an invitation has it alone; given back, it can be tried five times in all", () => {
  const enrolments = createEnrolments(createManualClock());
  const { ticket } = enrolments.invite("anna", "admin");
  for (let i = 0; i < 5; i += 1) {
    const { giveBack } = enrolments.take(ticket);
    expect(() => enrolments.take(ticket)).toThrow(invalid);
    giveBack();
  }
  expect(() => enrolments.take(ticket)).toThrow(invalid);
  expect(() => enrolments.find(undefined)).toThrow(invalid);
  expect(() => enrolments.find("x".repeat(10_000))).toThrow(invalid);
});

test("what was given back ends when it would have", () => {
  const clock = createManualClock();
  const enrolments = createEnrolments(clock);
  const { ticket } = enrolments.invite("anna", "admin");
  clock.advance(500_000);
  enrolments.take(ticket).giveBack();
  clock.advance(100_000);
  expect(() => enrolments.find(ticket)).toThrow(invalid);
});

test("a hundred invitations are open at once, and no more until some have ended", () => {
  const clock = createManualClock();
  const enrolments = createEnrolments(clock);
  for (let i = 0; i < 100; i += 1) enrolments.invite(`a${i}`, "admin");
  expect(() => enrolments.invite("b", "admin")).toThrow(expect.objectContaining({ code: "rate_limited" }));
  clock.advance(600_000);
  expect(enrolments.invite("b", "admin").ticket).toMatch(/^[\w-]{43}$/);
});

test("passkeys belong to a name: what the browser says, without the port, and never a number", () => {
  expect(originOf({ headers: { origin: "https://gate.example" }, origin: "http://gate.example" })).toBe(
    "https://gate.example",
  );
  expect(originOf({ headers: {}, origin: "http://localhost:1" })).toBe("http://localhost:1");
  expect(rpIdOf("http://localhost:7332")).toBe("localhost");
  for (const origin of ["http://127.0.0.1:1", "http://[::1]:1", "http://10.0.0.1", "nonsense"]) {
    expect(() => checkNamed(rpIdOf(origin)), origin).toThrow(
      expect.objectContaining({ code: "bad_request" }),
    );
  }
  expect(named(new URL("http://127.0.0.1:7/a")).href).toBe("http://localhost:7/a");
  expect(named(new URL("https://gate.example/a")).href).toBe("https://gate.example/a");
});
