// Runs in the page: what of a call never changes, written once, so that what was unfolded stays so. It stands alone,
// since its text is what the page gets.
import type { TextPart } from "@mcpx/protocol";
import type { CallFacts } from "../facts.ts";
import type { Browser, PageElement } from "./browser.ts";
import type { ExactValue } from "./read-exact.ts";
import type { Shower } from "./show-value.ts";

export interface ShowCallParts {
  shower: Shower;
  readExact(json: string): ExactValue;
  visibleText(text: string): TextPart[];
}

export function showCall(facts: CallFacts, { shower, readExact, visibleText }: ShowCallParts): void {
  const { document } = globalThis as unknown as Browser;
  const byId = (id: string) => document.getElementById(id) as PageElement;
  const item = (...nodes: (PageElement | string)[]) => {
    const made = document.createElement("li");
    made.append(...nodes);
    return made;
  };
  const time = (iso: string) => {
    const made = document.createElement("time");
    made.setAttribute("datetime", iso);
    made.textContent = new Date(iso).toLocaleString();
    return made;
  };

  /** Spaces and line ends are seen; escapes of JSON are read first. Of what is very long the beginning counts. */
  const hiddenIn = (json: string) => {
    const text = JSON.stringify(JSON.parse(json)).slice(0, 200_000);
    const marks = visibleText(text).filter(
      ({ text: own, mark }) => mark !== undefined && !/\p{Z}/u.test(own),
    );
    if (marks.length === 0) return [];
    const named = marks.slice(0, 5).map(({ mark, at }) => `${mark} at ${at}`);
    const more = marks.length > 5 ? " …" : "";
    const what = marks.length === 1 ? "1 hidden character" : `${marks.length} hidden characters`;
    return [`the arguments contain ${what}: ${named.join(", ")}${more}`];
  };

  byId("asks").textContent = facts.result_digest === undefined ? "asks to call" : "has called";
  byId("asker").replaceChildren(shower.text(facts.asked_by));
  byId("unsigned").hidden = facts.asker_signed;
  const { server } = facts;
  byId("server").replaceChildren(
    ...(server === undefined
      ? ["not signed"]
      : [shower.text(server.name), " › ", shower.text(server.tool), " (", shower.text(server.identity), ")"]),
  );
  byId("tool").replaceChildren(shower.text(facts.tool));
  byId("dangers").replaceChildren(...facts.dangers.map((word) => item(word)));
  const warnings = [...facts.warnings, ...hiddenIn(facts.arguments_text)];
  byId("warnings").replaceChildren(...warnings.map((warning) => item(shower.text(warning))));
  byId("why").textContent = facts.why;
  byId("asked-at").replaceChildren(time(facts.asked_at));
  byId("route").replaceChildren(
    ...facts.route.flatMap((part, i) => (i === 0 ? [shower.text(part)] : [" › ", shower.text(part)])),
  );
  byId("digest").textContent = facts.arguments_digest;
  byId("arguments").replaceChildren(shower.value(readExact(facts.arguments_text)));
  byId("statement-approve").textContent = facts.statements.approve;
  byId("statement-reject").textContent = facts.statements.reject;
  byId("commands").textContent =
    `mcpx approve ${facts.confirmation_id}\nmcpx reject ${facts.confirmation_id}`;

  const { last } = facts;
  byId("last").hidden = last === undefined;
  if (last !== undefined) {
    byId("last-when").replaceChildren(
      "Approved by ",
      shower.text(last.by.join(" and ")),
      ", ",
      time(last.at),
    );
    const lines = last.changes.map((line) => {
      const made = item(shower.text(line));
      made.className = line.startsWith("-") ? "gone" : "come";
      return made;
    });
    byId("changes").replaceChildren(...(lines.length === 0 ? [item("The arguments are the same.")] : lines));
  }
}
