// Runs in the page: the step between a key press and a decision. The way out is what Enter does. It stands alone,
// since its text is what the page gets.
import type { Browser, PageElement, PageEvent } from "./browser.ts";

export interface DialogOptions {
  /** Whether anything can be decided at this moment. */
  isOpen(wish: "approve" | "reject"): boolean;
  /** It is about what came of the call. */
  isHeld(): boolean;
  tool(): PageElement;
  decide(decision: "approve" | "reject", reason: string | undefined): void;
}

export function createDecideDialog({ isOpen, isHeld, tool, decide }: DialogOptions): void {
  const { document } = globalThis as unknown as Browser;
  const byId = (id: string) => document.getElementById(id) as PageElement;
  const dialog = byId("dialog");
  let decision: "approve" | "reject" = "reject";

  const open = (wish: "approve" | "reject") => {
    if (!isOpen(wish) || dialog.open) return;
    decision = wish;
    const isApproval = wish === "approve";
    const words = isHeld()
      ? {
          approve: "Release",
          reject: "Withhold",
          approved: "Its caller sees exactly this result. You sign it with your passkey.",
          rejected: "It has happened, and its caller never sees the result. It is told so, with your reason.",
        }
      : {
          approve: "Approve",
          reject: "Reject",
          approved: "It will happen once, exactly as shown. You sign it with your passkey.",
          rejected: "Nothing will happen. The caller is told, with your reason.",
        };
    const about = isHeld() ? " the result of " : " ";
    byId("dialog-title").replaceChildren(`${words[wish]}${about}`, tool(), "?");
    const folds = byId(isHeld() ? "result" : "arguments").querySelectorAll(".fold").length;
    byId("dialog-text").textContent = isApproval ? words.approved : words.rejected;
    byId("dialog-folds").textContent =
      `You have not seen all of it: ${folds} ${folds === 1 ? "part is" : "parts are"} still folded.`;
    byId("dialog-folds").hidden = !isApproval || folds === 0;
    byId("dialog-reason").hidden = isApproval;
    byId("go").textContent = `${words[wish]} with passkey`;
    byId("go").className = isApproval ? "danger" : "strong";
    byId("back").className = isApproval ? "strong" : "";
    dialog.showModal();
    (isApproval ? byId("back") : byId("reason")).focus();
  };

  byId("approve").addEventListener("click", () => open("approve"));
  byId("deny").addEventListener("click", () => open("reject"));
  byId("back").addEventListener("click", () => dialog.close());
  byId("go").addEventListener("click", () => {
    dialog.close();
    const reason = byId("reason").value.trim();
    if (isOpen(decision)) decide(decision, decision === "approve" || reason === "" ? undefined : reason);
  });
  document.addEventListener("keydown", (event: PageEvent) => {
    const { key, ctrlKey, metaKey, altKey } = event;
    const isTyping = ["TEXTAREA", "INPUT"].includes((event.target as PageElement).tagName);
    if (isTyping || ctrlKey || metaKey || altKey || dialog.open) return;
    const wish = ({ a: "approve", d: "reject" } as const)[key.toLowerCase()];
    if (wish === undefined) return;
    event.preventDefault();
    open(wish);
  });
}
