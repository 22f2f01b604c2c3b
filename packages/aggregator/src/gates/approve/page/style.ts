// How our pages look: one column, light and dark, from a phone to a desk.
export const style = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#f4f5f7, #101317);
  --card: light-dark(#ffffff, #181c22);
  --ink: light-dark(#16191d, #e8ebef);
  --soft: light-dark(#59626e, #9ca6b3);
  --line: light-dark(#d9dee4, #2c343e);
  --inset: light-dark(#f8f9fa, #11151a);
  --danger: light-dark(#b01e16, #ff938a);
  --danger-ground: light-dark(#fdeceb, #3a1b19);
  --good: light-dark(#12693a, #86d8a6);
  --good-ground: light-dark(#e5f5ec, #153523);
  --odd: light-dark(#7a4d00, #f0c36d);
  --odd-ground: light-dark(#fff3d6, #3a2d10);
  --link: light-dark(#1a56c4, #8ab6ff);
  --text: light-dark(#0a5c33, #93d9ad);
  --word: light-dark(#7a2f9c, #d9a6f0);
  --code: ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
html { background: var(--ground); color: var(--ink); }
body {
  margin: 0; min-height: 100dvh; display: flex; flex-direction: column;
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
}
main { flex: 1; width: 100%; max-width: 46rem; margin: 0 auto; padding: 1rem 1rem 2rem; }
header { display: flex; align-items: center; justify-content: space-between; min-height: 2rem; margin-bottom: .75rem; }
p { margin: 0 0 .5rem; }
.brand { margin: 0; font-weight: 650; letter-spacing: -.01em; color: var(--soft); }
.chip { margin: 0; padding: .1rem .7rem; border-radius: 1rem; font-size: .875rem; font-weight: 600; }
.chip:empty { display: none; }
.chip.open { background: var(--odd-ground); color: var(--odd); }
.chip.good { background: var(--good-ground); color: var(--good); }
.chip.bad { background: var(--danger-ground); color: var(--danger); }
.chip.odd { background: var(--odd-ground); color: var(--odd); }
article { background: var(--card); border: 1px solid var(--line); border-radius: .75rem; padding: 1.25rem; }
.ask { margin: 0; color: var(--soft); }
.ask strong { color: var(--ink); }
h1 { margin: .1rem 0 .75rem; font: 650 1.6rem/1.25 var(--code); letter-spacing: -.02em; overflow-wrap: anywhere; }
h1:not(#tool) { font-family: inherit; }
h2 { margin: 0 0 .5rem; font-size: .95rem; font-weight: 650; }
h3 { margin: .75rem 0 .25rem; font-size: .875rem; font-weight: 600; }
section { margin-top: 1.25rem; }
.soft { color: var(--soft); }
.dangers { display: flex; flex-wrap: wrap; gap: .4rem; margin: 0; padding: 0; list-style: none; }
.dangers li { padding: .15rem .6rem; border-radius: .4rem; background: var(--odd-ground); color: var(--odd); font-size: .9rem; font-weight: 600; }
.dangers li:first-child { background: var(--danger-ground); color: var(--danger); }
.dangers li:first-child::before { content: "⚠ " / ""; }
.warnings { margin: .4rem 0 0; padding: 0; list-style: none; color: var(--danger); font-weight: 600; }
.warnings li::before { content: "⚠ " / ""; }
.arguments { padding: .75rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--inset); font: .9rem/1.55 var(--code); overflow: hidden; contain: paint; }
.value { margin: 0; padding: 0; list-style: none; }
.value .value { padding-left: 1.1rem; border-left: 1px solid var(--line); }
ol.value, .value ol.value { list-style: decimal; padding-left: 2.6rem; }
ol.value > li::marker { color: var(--soft); font-size: .8rem; }
.value li { overflow-wrap: anywhere; }
.key { font-weight: 600; }
bdi { unicode-bidi: isolate; direction: ltr; white-space: pre-wrap; overflow-wrap: anywhere; }
.string { color: var(--text); }
.string.block { display: block; margin: .15rem 0 .35rem; padding: .4rem .6rem; border-left: 3px solid var(--text); border-radius: .25rem; background: var(--card); max-height: 60vh; overflow-y: auto; }
.word { color: var(--word); }
.mark { padding: 0 .2em; border-radius: .2em; background: var(--odd-ground); color: var(--odd); font-size: .85em; font-weight: 650; }
.fold { min-height: 2rem; margin: .2rem .25rem; padding: 0 .6rem; border: 1px dashed var(--odd); border-radius: .4rem; background: var(--odd-ground); color: var(--odd); font: 600 .8rem/1.4 system-ui, sans-serif; }
.changes { margin: 0; padding: .6rem .75rem; list-style: none; border: 1px solid var(--line); border-radius: .5rem; background: var(--inset); font: .85rem/1.5 var(--code); }
.changes .gone { color: var(--danger); }
.changes .come { color: var(--good); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .3rem 1rem; margin: 0; font-size: .92rem; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
.code { font: .8rem/1.5 var(--code); overflow-wrap: anywhere; white-space: pre-wrap; }
pre { margin: 0 0 .5rem; padding: .6rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--inset); max-height: 12rem; overflow: auto; }
details { margin-top: 1.25rem; border-top: 1px solid var(--line); padding-top: .75rem; }
summary { min-height: 2.75rem; display: flex; align-items: center; color: var(--link); cursor: pointer; }
summary::before { content: "▸" / ""; margin-right: .5rem; }
details[open] > summary::before { content: "▾" / ""; }
label { display: block; margin: .5rem 0 .25rem; font-size: .9rem; font-weight: 600; }
textarea { width: 100%; padding: .6rem; border: 1px solid var(--soft); border-radius: .5rem; background: var(--card); color: inherit; font: 1rem/1.4 inherit; resize: vertical; }
#proof { font: .85rem/1.4 var(--code); }
a { color: var(--link); }
footer { position: sticky; bottom: 0; background: var(--card); border-top: 1px solid var(--line); box-shadow: 0 -4px 16px rgb(0 0 0 / .06); padding-bottom: env(safe-area-inset-bottom); }
.bar { max-width: 46rem; margin: 0 auto; padding: .75rem 1rem; display: flex; flex-wrap: wrap; align-items: center; gap: .5rem 1.5rem; }
.say { flex: 1 1 16rem; }
.say p, #obstacle { margin: 0; }
#obstacle { color: var(--soft); font-size: .92rem; }
#status { font-weight: 600; overflow-wrap: anywhere; }
#status.good { color: var(--good); }
#status.bad { color: var(--danger); }
#status.odd { color: var(--odd); }
#left { font-size: .9rem; }
#left-text { font-variant-numeric: tabular-nums; font-weight: 600; }
#left.soon #left-text { color: var(--danger); }
.buttons { display: flex; gap: .75rem; }
button { cursor: pointer; font: inherit; color: inherit; }
.buttons button, #send { min-height: 2.9rem; padding: 0 1.1rem; border-radius: .6rem; border: 1.5px solid var(--soft); background: transparent; font-weight: 600; }
.buttons .strong { background: var(--ink); border-color: var(--ink); color: var(--card); }
.buttons .danger { border-color: var(--danger); color: var(--danger); }
#send { margin-top: .5rem; }
button:disabled { opacity: .45; cursor: default; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
kbd { margin-left: .35rem; padding: 0 .35rem; border: 1px solid currentColor; border-radius: .3rem; font: 600 .72rem/1.5 var(--code); opacity: .75; }
dialog { width: min(30rem, calc(100vw - 2rem)); border: 1px solid var(--line); border-radius: .75rem; padding: 1.25rem; background: var(--card); color: var(--ink); }
dialog::backdrop { background: rgb(0 0 0 / .5); }
dialog h2 { font-size: 1.15rem; overflow-wrap: anywhere; }
dialog h2 bdi { font-family: var(--code); }
dialog .buttons { margin-top: 1rem; justify-content: flex-end; flex-wrap: wrap; }
.warning { padding: .5rem .75rem; border-radius: .5rem; background: var(--odd-ground); color: var(--odd); font-weight: 600; }
.name { font-size: 1.25rem; }
@media (max-width: 34rem) {
  main { padding: .75rem .75rem 1.25rem; }
  article { padding: 1rem; }
  h1 { font-size: 1.3rem; }
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: .5rem; }
  .buttons { width: 100%; }
  .buttons button { flex: 1; padding: 0 .5rem; }
  kbd { display: none; }
}
@media (prefers-reduced-motion: no-preference) { button { transition: opacity .12s; } }
@media (forced-colors: active) { .mark, .fold, .chip { border: 1px solid; } }
`;
