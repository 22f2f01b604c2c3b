// How the pages of a sign-in look: one column, light and dark, from a phone to a wide screen.
export const style = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#f6f7f9, #14161a);
  --card: light-dark(#ffffff, #1c1f25);
  --line: light-dark(#dfe2e8, #31363f);
  --ink: light-dark(#1a1d23, #e8eaed);
  --soft: light-dark(#5a6270, #a3abb8);
  --accent: light-dark(#3450c8, #9db1ff);
  --on-accent: light-dark(#ffffff, #10142a);
  --odd: light-dark(#7a4d00, #f2c063);
  --odd-ground: light-dark(#fff3d6, #3a2d12);
}
* { box-sizing: border-box; }
body {
  margin: 0; min-height: 100dvh; display: flex; flex-direction: column;
  background: var(--ground); color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
}
main { flex: 1; width: 100%; max-width: 46rem; margin: 0 auto; padding: 1rem; }
header { min-height: 2rem; margin-bottom: .75rem; }
p { margin: 0 0 .5rem; }
.brand { margin: 0; font-weight: 650; color: var(--soft); }
article { background: var(--card); border: 1px solid var(--line); border-radius: .75rem; padding: 1.25rem; }
.ask { margin: 0; color: var(--soft); }
.ask strong { color: var(--ink); }
h1 { margin: .1rem 0 .75rem; font-size: 1.6rem; line-height: 1.25; overflow-wrap: anywhere; }
section { margin-top: 1.25rem; }
.soft { color: var(--soft); }
bdi { unicode-bidi: isolate; direction: ltr; white-space: pre-wrap; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .3rem 1rem; margin: 0; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
.warning { padding: .5rem .75rem; border-radius: .5rem; background: var(--odd-ground); color: var(--odd); font-weight: 600; }
footer { position: sticky; bottom: 0; background: var(--card); border-top: 1px solid var(--line); padding-bottom: env(safe-area-inset-bottom); }
.bar { max-width: 46rem; margin: 0 auto; padding: .75rem 1rem; }
button { min-height: 2.9rem; padding: 0 1.1rem; border: 0; border-radius: .6rem; background: var(--accent); color: var(--on-accent); font: inherit; font-weight: 600; cursor: pointer; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
@media (max-width: 34rem) { button { width: 100%; } }
`;
