import { expect, test } from "vitest";
import { heardText, slackMessage } from "./slack-text.ts";

test("what a person wrote on Slack is read as they saw it", () => {
  expect(heardText("1 &lt; 2 &amp;&amp; &amp;lt;")).toBe("1 < 2 && &lt;");
  expect(heardText("<@U1> <@U2|carol> <#C1|ops> <#C2> <!here> <!subteam^S1|@team>")).toBe(
    "@U1 @carol #ops #C2 @here @team",
  );
  expect(heardText("<https://e.org> <https://e.org|e.org> <https://e.org|the page>")).toBe(
    "https://e.org https://e.org the page (https://e.org)",
  );
});

test("lines are one section, code is its own, and an empty post is not refused", () => {
  const parts = [
    { kind: "text", text: "bob", isStrong: true },
    { kind: "text", text: "<!channel> *x*" },
    { kind: "code", text: "{}" },
  ] as const;
  expect(slackMessage({ parts, buttons: [] })).toEqual({
    text: "bob\n&lt;!channel&gt; *x*\n{}",
    blocks: [
      {
        type: "rich_text",
        elements: [
          {
            type: "rich_text_section",
            elements: [
              { type: "text", text: "bob", style: { bold: true } },
              { type: "text", text: "\n<!channel> *x*" },
            ],
          },
          { type: "rich_text_preformatted", elements: [{ type: "text", text: "{}" }] },
        ],
      },
    ],
  });
  expect(slackMessage({ parts: [], buttons: [] }).blocks).toHaveLength(1);
});
