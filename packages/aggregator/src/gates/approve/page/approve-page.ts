// Runs in the page where a human decides: shows the call, keeps what is shown true, and takes the decision. It stands
// alone but for the parts it is given, since its text is what the page gets.
import type { gateOutcome, visibleText } from "@mcpx/protocol";
import type { CallFacts } from "../facts.ts";
import type { Browser, PageElement } from "./browser.ts";
import type { createDecideDialog } from "./decide-dialog.ts";
import type { createPasskeys, RequestOptions } from "./passkeys.ts";
import type { post } from "./post.ts";
import type { readExact } from "./read-exact.ts";
import type { showCall } from "./show-call.ts";
import type { createShower } from "./show-value.ts";
import type { timeLeft } from "./words.ts";

export interface ApproveParts {
  createDecideDialog: typeof createDecideDialog;
  createPasskeys: typeof createPasskeys;
  createShower: typeof createShower;
  gateOutcome: typeof gateOutcome;
  post: typeof post;
  readExact: typeof readExact;
  showCall: typeof showCall;
  timeLeft: typeof timeLeft;
  visibleText: typeof visibleText;
}

export function approvePage(parts: ApproveParts): void {
  const { document, location } = globalThis as unknown as Browser;
  const { post, gateOutcome, timeLeft, visibleText, readExact } = parts;
  const lookMs = 1_000;
  const lookHiddenMs = 5_000;
  const warnMs = [60_000, 10_000];
  const nobodyEnrolled =
    "Nobody has enrolled a passkey at this address. Register one at the console: mcpx console --open, then Tokens.";
  const byId = (id: string) => document.getElementById(id) as PageElement;
  const base = location.pathname;
  const shower = parts.createShower({ visibleText });
  const passkeys = parts.createPasskeys();
  let facts: CallFacts | undefined;
  let version = "";
  /** By this page's own clock. */
  let endsAt = 0;
  let isBusy = false;
  let isStale = false;
  let hasLooked = false;
  let said = "";

  const plain = (text: string) =>
    visibleText(text)
      .map((part) => part.mark ?? part.text)
      .join("");
  /** The one place that speaks. */
  const say = (text: string, tone = "") => {
    if (text === said) return;
    said = text;
    byId("status").className = tone;
    byId("status").replaceChildren(shower.text(text, "plain"));
  };
  const isHeld = () => facts?.status === "held";
  const isUndecided = () => facts?.status === "pending" || isHeld();
  const isOpen = () => isUndecided() && !isBusy && !isStale;
  /** Nobody releases what they have not seen here; it can still be withheld. */
  const mayApprove = () => isOpen() && (!isHeld() || hasLooked);
  const isOver = () =>
    facts !== undefined && !["pending", "approved", "consumed", "held"].includes(facts.status);

  /** What can be done at this moment. */
  const arm = () => {
    const isPending = isUndecided();
    const obstacle = passkeys.obstacle() ?? (facts?.has_passkeys === false ? nobodyEnrolled : undefined);
    byId("buttons").hidden = !isPending || obstacle !== undefined;
    byId("elsewhere").hidden = !isPending;
    byId("obstacle").hidden = !isPending || obstacle === undefined;
    byId("obstacle-text").textContent = obstacle ?? "";
    for (const id of ["deny", "send", "look"]) byId(id).disabled = !isOpen();
    byId("approve").disabled = !mayApprove();
    byId("held").hidden = !isHeld();
    byId("look").hidden = hasLooked || obstacle !== undefined;
    byId("held-text").textContent =
      obstacle === undefined
        ? "It has happened. Its caller sees the result only if you release it."
        : "It has happened. To see the result without a passkey, use mcpx approve in a terminal.";
    byId("approve-word").textContent = isHeld() ? "Release" : "Approve";
    byId("deny-word").textContent = isHeld() ? "Withhold" : "Reject";
    byId("left").hidden = !isPending;
  };

  const show = (now: CallFacts) => {
    const isFirst = facts === undefined || facts.result_digest !== now.result_digest;
    const isSame = facts?.status === now.status && facts.approvals.length === now.approvals.length;
    facts = now;
    endsAt = performance.now() + now.expires_in_ms;
    if (isFirst) {
      parts.showCall(now, { shower, readExact, visibleText });
      if (passkeys.obstacle() !== undefined || !now.has_passkeys) byId("elsewhere").open = true;
    }
    const { short, long, tone } = gateOutcome(now);
    byId("chip").textContent = short;
    byId("chip").className = `chip ${tone}`;
    byId("approvals").textContent = `${now.approvals.length} of ${now.approvers}`;
    byId("approved-by").replaceChildren(
      now.approvals.length === 0 ? "" : shower.text(`by ${now.approvals.map(({ by }) => by).join(" and ")}`),
    );
    document.title = `${short}: ${plain(now.tool)}`;
    byId("call").hidden = false;
    tick();
    // What was said about an attempt stays until something happens.
    if (!isSame) say(long, tone);
    arm();
  };

  const look = async () => {
    const headers: Record<string, string> = version === "" ? {} : { "if-none-match": version };
    try {
      const response = await fetch(`${base}/call`, { headers, cache: "no-store" });
      if (isStale) said = "";
      const wasStale = isStale;
      isStale = false;
      if (response.status === 404) {
        byId("call").hidden = true;
        facts = undefined;
        say("There is nothing to decide here: the link is wrong, or the call is long over.", "bad");
        arm();
        return false;
      }
      if (response.ok) {
        version = response.headers.get("etag") ?? "";
        show((await response.json()) as CallFacts);
      }
      if (wasStale && facts !== undefined) {
        const { long, tone } = gateOutcome(facts);
        say(long, tone);
        arm();
      }
    } catch {
      isStale = true;
      say("The gateway cannot be reached. What you see may be old.", "odd");
      arm();
    }
    return !isOver();
  };

  const keepLooking = async () => {
    const goesOn = await look();
    if (goesOn) setTimeout(keepLooking, document.hidden ? lookHiddenMs : lookMs);
  };

  const attempt = async (work: () => Promise<unknown>) => {
    isBusy = true;
    arm();
    try {
      const now = (await work()) as CallFacts;
      isBusy = false;
      show(now);
    } catch (error) {
      isBusy = false;
      const { name, message } = error as Error;
      const isLeft = name === "NotAllowedError" || name === "AbortError";
      say(isLeft ? "No passkey was used. Nothing was decided." : message, "bad");
      version = "";
      arm();
    }
  };
  const lookAtResult = () =>
    attempt(async () => {
      say("Waiting for your passkey …");
      const options = await post(`${base}/look/options`, {});
      const credential = await passkeys.get(options as RequestOptions);
      const { result_text } = (await post(`${base}/look`, { credential })) as { result_text: string };
      byId("result").replaceChildren(shower.value(readExact(result_text)));
      hasLooked = true;
      say("This is what its caller will see if you release it.");
      return facts;
    });
  const decide = (decision: "approve" | "reject", reason: string | undefined) =>
    attempt(async () => {
      say("Waiting for your passkey …");
      const options = await post(`${base}/passkey/options`, { decision, reason });
      const credential = await passkeys.get(options as RequestOptions);
      say("Your decision is on its way …");
      return post(`${base}/passkey/decision`, { decision, reason, credential });
    });

  const tick = () => {
    if (!isUndecided()) return;
    const ms = endsAt - performance.now();
    byId("left-text").textContent = timeLeft(ms);
    byId("left").className = ms < (warnMs[0] ?? 0) ? "soon" : "";
    const isAt = (at: number) => ms <= at && ms > at - 500;
    if (warnMs.some(isAt) && !isBusy) say(`${timeLeft(ms)} left to decide.`, "odd");
  };

  byId("send").addEventListener("click", () => {
    const proof = byId("proof").value.trim();
    if (proof === "") byId("proof").focus();
    else void attempt(() => post(`${base}/decision`, { proof }));
  });
  byId("look").addEventListener("click", () => void lookAtResult());
  parts.createDecideDialog({
    isOpen: (wish) =>
      (wish === "approve" ? mayApprove() : isOpen()) &&
      passkeys.obstacle() === undefined &&
      facts?.has_passkeys === true,
    isHeld,
    tool: () => shower.text(facts?.tool ?? ""),
    decide,
  });
  const { port, protocol } = new URL(location.href);
  const isNumber = passkeys.obstacle() !== undefined && ["127.0.0.1", "[::1]"].includes(location.hostname);
  byId("by-name").hidden = !isNumber;
  byId("by-name").href = `${protocol}//localhost${port === "" ? "" : `:${port}`}${base}`;
  document.addEventListener("visibilitychange", () => void (document.hidden || isOver() || look()));
  setInterval(tick, 500);
  void keepLooking();
}
