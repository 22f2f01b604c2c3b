// Runs in the page: the step between a key press and a decision. The way out is what Enter does. It stands alone,
// since its text is what the page gets.
import type { Browser, PageElement, PageEvent } from "./browser.ts";

export interface DialogOptions {
  /** Whether anything can be decided at this moment. */
  isOpen(): boolean;
  tool(): PageElement;
  decide(decision: "approve" | "reject", reason: string | undefined): void;
}

export function createDecideDialog({ isOpen, tool, decide }: DialogOptions): void {
  const { document } = globalThis as unknown as Browser;
  const byId = (id: string) => document.getElementById(id) as PageElement;
  const dialog = byId("dialog");
  let decision: "approve" | "reject" = "reject";

  const open = (wish: "approve" | "reject") => {
    if (!isOpen() || dialog.open) return;
    decision = wish;
    const isApproval = wish === "approve";
    byId("dialog-title").replaceChildren(isApproval ? "Approve " : "Deny ", tool(), "?");
    const folds = byId("arguments").querySelectorAll(".fold").length;
    byId("dialog-text").textContent = isApproval
      ? "It will happen once, exactly as shown. You sign it with your passkey."
      : "Nothing will happen. The caller is told, with your reason.";
    byId("dialog-folds").textContent =
      `You have not seen all of it: ${folds} ${folds === 1 ? "part is" : "parts are"} still folded.`;
    byId("dialog-folds").hidden = !isApproval || folds === 0;
    byId("dialog-reason").hidden = isApproval;
    byId("go").textContent = isApproval ? "Approve with passkey" : "Deny with passkey";
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
    if (isOpen()) decide(decision, decision === "approve" || reason === "" ? undefined : reason);
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
