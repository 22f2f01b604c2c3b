// What is said of one address of the REST interface, and the words that many of them share. Answers are described
// strictly: a test compares them with what the gateway answers, and a field that nobody has described fails it.
import type { Level } from "@mcpx/protocol";
import { z } from "zod";

export interface Address {
  readonly method: "GET" | "POST" | "DELETE";
  /** As its route has it: `/v0/topics/:topic/history`. */
  readonly path: string;
  readonly summary: string;
  /** `here`: an admin at the gateway's machine or at its console; a token alone is refused. */
  readonly access: "everybody" | "participant" | "admin" | "here";
  readonly query?: Readonly<Record<string, Parameter>>;
  readonly body?: z.ZodType;
  /** 200 unless given. */
  readonly status?: number;
  /** JSON; where it is text, its type. */
  readonly answer: z.ZodType | string;
  /** The other statuses that are no errors, with the same answer. */
  readonly also?: readonly number[];
}

export interface Parameter {
  readonly schema: z.ZodType;
  readonly about: string;
}

export const time = z.iso.datetime().describe("RFC 3339");
export const count = z.int().min(0);
export const id = z.string().min(1).max(128);
export const texts = z.array(z.string());
export const anything = z.looseObject({});
export const level = z.enum(["full", "responder", "restricted"] satisfies Level[]);
export const actor = z.string().describe("Who did this");

export const limit: Parameter = {
  schema: z.int().min(1),
  about: "The most entries of the answer; 100 unless given",
};
export const topic: Parameter = { schema: id, about: "The name of a room" };

/** What every refusal says. */
export const problem = z.strictObject({
  error: z.strictObject({
    code: z.int().describe("The error's number, in docs/ERRORS.md"),
    reason: z.string().describe("The error's reason, which never changes its meaning"),
    message: z.string(),
    suggestion: z.string().optional(),
  }),
});
