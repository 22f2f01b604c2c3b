// The two pages: where a human decides, and where a human becomes an approver.
import { gateOutcome, visibleText } from "@mcpx/protocol";
import { approvePage } from "./page/approve-page.ts";
import { createDecideDialog } from "./page/decide-dialog.ts";
import { enrolPage } from "./page/enrol-page.ts";
import { createPasskeys } from "./page/passkeys.ts";
import { post } from "./page/post.ts";
import { readExact } from "./page/read-exact.ts";
import { showCall } from "./page/show-call.ts";
import { createShower } from "./page/show-value.ts";
import { timeLeft } from "./page/words.ts";
import { scriptOf, shellOf } from "./shell.ts";

const approveBody = `<main>
<header><p class="brand">mcpx</p><p id="chip" class="chip"></p></header>
<noscript><p>This page needs JavaScript: it signs your decision. In a terminal, use mcpx approve.</p></noscript>
<article id="call" hidden>
<p class="ask"><strong id="asker"></strong> <span id="asks">asks to call</span></p>
<p id="unsigned" class="warning" hidden>Asker not signed: an older build stored this call. It can only be rejected.</p>
<h1 id="tool"></h1>
<ul id="dangers" class="dangers" aria-label="Danger"></ul>
<ul id="warnings" class="warnings" aria-label="Warnings"></ul>
<section aria-labelledby="arguments-title">
<h2 id="arguments-title">With exactly these arguments</h2>
<div id="arguments" class="arguments"></div>
</section>
<section id="held" aria-labelledby="held-title" hidden>
<h2 id="held-title">What came of it</h2>
<p id="held-text">It has happened. Its caller sees the result only if you release it.</p>
<button id="look" type="button">Show the result …</button>
<div id="result" class="arguments"></div>
</section>
<section id="last" aria-labelledby="last-title" hidden>
<h2 id="last-title">Compared with the last approved call</h2>
<p id="last-when" class="soft"></p>
<ul id="changes" class="changes"></ul>
</section>
<section aria-labelledby="about-title">
<h2 id="about-title">About this call</h2>
<dl>
<dt>Why you are asked</dt><dd id="why"></dd>
<dt>Approvals</dt><dd><span id="approvals"></span> <span id="approved-by"></span></dd>
<dt>Route</dt><dd id="route"></dd>
<dt>Server</dt><dd id="server" class="code"></dd>
<dt>Asked at</dt><dd id="asked-at"></dd>
<dt>Digest</dt><dd id="digest" class="code"></dd>
</dl>
</section>
<details id="elsewhere">
<summary>Decide with a signature made elsewhere</summary>
<p>In a terminal, with your own key:</p>
<pre id="commands" class="code" tabindex="0"></pre>
<p>Or sign one of these statements (JWS, type mcpx-proof+jwt), and paste what comes out.</p>
<h3>To approve, or to release</h3>
<pre id="statement-approve" class="code" tabindex="0"></pre>
<h3>To deny, or to withhold</h3>
<pre id="statement-reject" class="code" tabindex="0"></pre>
<label for="proof">Signature</label>
<textarea id="proof" rows="4" maxlength="16384" spellcheck="false" autocomplete="off"></textarea>
<button id="send" type="button">Send signature</button>
</details>
</article>
</main>
<footer>
<div class="bar">
<div class="say">
<p id="status" role="status">Loading …</p>
<p id="left" hidden><span class="soft">Expires in</span> <span id="left-text" role="timer"></span></p>
</div>
<p id="obstacle" hidden><span id="obstacle-text"></span> <a id="by-name" hidden>Open it at localhost</a></p>
<div id="buttons" class="buttons" hidden>
<button id="deny" type="button" class="strong" aria-keyshortcuts="d"><span id="deny-word">Reject</span> … <kbd>D</kbd></button>
<button id="approve" type="button" class="danger" aria-keyshortcuts="a"><span id="approve-word">Approve</span> … <kbd>A</kbd></button>
</div>
</div>
</footer>
<dialog id="dialog" aria-labelledby="dialog-title" aria-describedby="dialog-text">
<h2 id="dialog-title"></h2>
<p id="dialog-text"></p>
<p id="dialog-folds" class="warning" hidden></p>
<div id="dialog-reason" hidden>
<label for="reason">Reason, for the caller (optional)</label>
<textarea id="reason" rows="3" maxlength="1000"></textarea>
</div>
<div class="buttons">
<button id="back" type="button" class="strong">No, go back</button>
<button id="go" type="button"></button>
</div>
</dialog>`;

const enrolBody = `<main>
<header><p class="brand">mcpx</p></header>
<article>
<h1>Become an approver</h1>
<div id="invited" hidden>
<p>You are invited to decide about dangerous calls, under the name</p>
<p class="name"><strong id="name"></strong></p>
<p>Your device makes a passkey for this gateway. Only its public half comes here: nobody but you can use it.</p>
</div>
</article>
</main>
<footer>
<div class="bar">
<div class="say"><p id="status" role="status">Loading …</p></div>
<div class="buttons"><button id="register" type="button" class="strong" disabled>Register a passkey</button></div>
</div>
</footer>`;

export const approveShell = shellOf({
  title: "A call waits for a decision",
  body: approveBody,
  script: scriptOf(approvePage, {
    createDecideDialog,
    createPasskeys,
    createShower,
    gateOutcome,
    post,
    readExact,
    showCall,
    timeLeft,
    visibleText,
  }),
});

export const enrolShell = shellOf({
  title: "Become an approver",
  body: enrolBody,
  script: scriptOf(enrolPage, { createPasskeys, post }),
});
