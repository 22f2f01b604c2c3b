// Runs in the page: a value of JSON as nested lists. Whatever is in it becomes text, never markup; what is long is
// folded, and can be seen to be. It stands alone, since its text is what the page gets.
import type { TextPart } from "@mcpx/protocol";
import type { Browser, PageElement } from "./browser.ts";
import type { ExactValue } from "./read-exact.ts";

export interface Shower {
  /** A name or a text, nothing hidden in it. */
  text(text: string, className?: string): PageElement;
  value(value: ExactValue): PageElement;
}

export function createShower({ visibleText }: { visibleText(text: string): TextPart[] }): Shower {
  const { document } = globalThis as unknown as Browser;
  const charsMax = 600;
  const charsAtEnd = 150;
  const linesMax = 20;
  const itemsMax = 50;

  const element = (tag: string, className: string, ...nodes: (PageElement | string)[]) => {
    const made = document.createElement(tag);
    made.className = className;
    made.append(...nodes);
    return made;
  };
  const parts = (text: string) =>
    visibleText(text).map(({ text: own, mark }) => {
      if (mark === undefined) return own;
      // Lines and tabs are named, and still break and stand where they do.
      return element("span", "mark", own === "\n" || own === "\t" ? `${mark}${own}` : mark);
    });
  const text = (given: string, className = "text") => {
    const made = element("bdi", className, ...parts(given));
    made.setAttribute("dir", "ltr");
    return made;
  };
  /** A button whose place is taken by what is folded, where the reader goes on. */
  const folded = (tag: "span" | "li", label: string, unfold: () => PageElement[]) => {
    const button = element("button", "fold", label);
    const place = element(tag, "", button);
    button.setAttribute("type", "button");
    button.addEventListener("click", () => {
      const [first, ...rest] = unfold();
      if (first === undefined) return;
      first.setAttribute("tabindex", "-1");
      place.replaceWith(first, ...rest);
      first.focus();
    });
    return place;
  };
  /** Halves of a character stay together. */
  const cutAt = (given: string, at: number) => (/[\udc00-\udfff]/.test(given[at] ?? "") ? at - 1 : at);

  const quoted = (given: string) => {
    const escaped = given.replaceAll("\\", "\\\\").replaceAll('"', '\\"');
    const lines = escaped.split("\n");
    const isLong = escaped.length > charsMax + charsAtEnd || lines.length > linesMax;
    const made = element("bdi", lines.length > 1 || isLong ? "string block" : "string", '"');
    made.setAttribute("dir", "ltr");
    if (!isLong) {
      made.append(...parts(escaped), '"');
      return made;
    }
    const start = cutAt(escaped, Math.min(charsMax, lines.slice(0, linesMax).join("\n").length));
    const end = cutAt(escaped, Math.max(start, escaped.length - charsAtEnd));
    const middle = escaped.slice(start, end);
    made.append(
      ...parts(escaped.slice(0, start)),
      folded("span", `show ${middle.length.toLocaleString("en")} more characters`, () => [
        element("span", "", ...parts(middle)),
      ]),
      ...parts(escaped.slice(end)),
      '"',
    );
    return made;
  };
  const listed = (rows: (() => PageElement)[], isNumbered: boolean) => {
    const list = element(isNumbered ? "ol" : "ul", "value");
    if (isNumbered) list.setAttribute("start", "0");
    list.append(...rows.slice(0, itemsMax).map((row) => row()));
    const more = rows.slice(itemsMax);
    if (more.length > 0) {
      const unfold = () => more.map((row) => row());
      list.append(folded("li", `show ${more.length.toLocaleString("en")} more`, unfold));
    }
    return list;
  };
  const value = (given: ExactValue): PageElement => {
    switch (given.kind) {
      case "text":
        return quoted(given.text);
      case "word":
        return element("span", "word", given.word);
      case "list":
        if (given.items.length === 0) return element("span", "word", "[ ]");
        return listed(
          given.items.map((item) => () => element("li", "", value(item))),
          true,
        );
      case "object":
        if (given.entries.length === 0) return element("span", "word", "{ }");
        return listed(
          given.entries.map(
            ([key, item]) =>
              () =>
                element("li", "", text(key, "key"), ": ", value(item)),
          ),
          false,
        );
    }
  };
  return { text, value };
}
