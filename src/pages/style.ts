/** The style sheet of all pages, for light and dark colour schemes. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --page: #eef1f4; --card: #ffffff; --ink: #16202a; --soft: #55636f; --line: #d5dce2; --edge: #7d8b97; --field: #ffffff;
  --accent: #0b6e5f; --accent-ink: #ffffff; --accent-deep: #095a4e; --tint: #eaf4f2;
  --bad: #a1231b; --bad-tint: #fdeeec; --bad-line: #f0c4bf;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0f1418; --card: #192127; --ink: #e9eff3; --soft: #a3b1bc; --line: #34414b; --edge: #6b7b88; --field: #10171c;
    --accent: #5cc9b5; --accent-ink: #06211c; --accent-deep: #7ad8c6; --tint: #16302c;
    --bad: #ff9d94; --bad-tint: #3a1d1b; --bad-line: #6b332e;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0; min-height: 100vh; min-height: 100dvh; padding: 2rem 1rem; display: flex;
  background: var(--page); color: var(--ink); font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", sans-serif;
}
.card {
  width: 100%; max-width: 27.5rem; margin: auto; padding: 2rem; background: var(--card);
  border: 1px solid var(--line); border-radius: 1rem; box-shadow: 0 1px 2px #0000000d, 0 12px 32px #0000000f;
}
.brand { display: flex; align-items: center; gap: 0.6rem; margin: 0 0 1.5rem; color: var(--accent); font-weight: 650; }
.brand span { color: var(--ink); }
h1 { margin: 0 0 0.5rem; font-size: 1.4rem; line-height: 1.25; letter-spacing: -0.01em; overflow-wrap: anywhere; text-wrap: balance; }
h2 { margin: 1.5rem 0 0.5rem; font-size: 1rem; line-height: 1.35; overflow-wrap: anywhere; }
p { margin: 0 0 1rem; overflow-wrap: anywhere; }
a { color: var(--accent); text-underline-offset: 0.15em; }
a.button { color: var(--ink); }
.lead { color: var(--soft); margin-bottom: 1.5rem; }
.lead strong, .facts dd strong { color: var(--ink); font-weight: 600; }
.field { margin: 0 0 1rem; }
.field label, legend { display: block; margin-bottom: 0.35rem; padding: 0; font-weight: 600; font-size: 0.925rem; }
.field small { display: block; margin-top: 0.35rem; color: var(--soft); }
input[type="email"], input[type="password"], input[type="text"] {
  width: 100%; padding: 0.65rem 0.75rem; font: inherit; color: inherit; background: var(--field);
  border: 1px solid var(--edge); border-radius: 0.6rem;
}
input[aria-invalid="true"] { border-color: var(--bad); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.actions { display: flex; flex-wrap: wrap; gap: 0.75rem; margin-top: 1.5rem; }
button, .button {
  flex: 1 1 9rem; padding: 0.7rem 1rem; font: inherit; font-weight: 600; text-align: center; text-decoration: none;
  border-radius: 0.6rem; border: 1px solid var(--line); background: transparent; color: var(--ink); cursor: pointer;
}
button.primary, a.button.primary { background: var(--accent); border-color: var(--accent); color: var(--accent-ink); }
button.primary:hover, a.button.primary:hover { background: var(--accent-deep); border-color: var(--accent-deep); }
button.quiet:hover, .button.quiet:hover { background: var(--tint); }
button.danger { flex: none; padding: 0.45rem 0.8rem; font-size: 0.9rem; color: var(--bad); border-color: var(--bad-line); }
button.danger:hover { background: var(--bad-tint); }
button.link {
  flex: none; padding: 0; border: 0; font-weight: 500; color: var(--accent); text-decoration: underline; text-underline-offset: 0.15em;
}
.alert {
  margin: 0 0 1.25rem; padding: 0.75rem 1rem; border: 1px solid var(--bad-line); border-radius: 0.6rem;
  background: var(--bad-tint); color: var(--bad); font-weight: 500;
}
.note { margin: 1.5rem 0 0; padding-top: 1.25rem; border-top: 1px solid var(--line); color: var(--soft); font-size: 0.875rem; }
.or { margin: 1.25rem 0 1rem; color: var(--soft); font-size: 0.875rem; text-align: center; }
.facts { display: grid; grid-template-columns: auto 1fr; gap: 0.5rem 1rem; margin: 0 0 1.5rem; padding: 1rem; border-radius: 0.75rem; background: var(--tint); font-size: 0.925rem; }
.facts dt { color: var(--soft); }
.facts dd { margin: 0; overflow-wrap: anywhere; }
.facts code { user-select: all; }
.facts dd small { display: block; color: var(--soft); }
.question { padding: 1rem; border: 1px solid var(--line); border-radius: 0.75rem; font-weight: 600; white-space: pre-wrap; }
summary { cursor: pointer; color: var(--accent); font-weight: 600; }
details[open] > summary { margin-bottom: 1rem; }
details { color: var(--ink); }
fieldset { margin: 0 0 1rem; padding: 0; border: 0; min-width: 0; }
.choices .hint { margin: -0.1rem 0 0.5rem; color: var(--soft); font-size: 0.875rem; }
.choices label { display: flex; gap: 0.65rem; align-items: baseline; padding: 0.6rem 0.75rem; border: 1px solid var(--line); border-radius: 0.6rem; cursor: pointer; }
.choices label + label { margin-top: 0.5rem; }
.choices label:has(:checked) { border-color: var(--accent); background: var(--tint); }
.choices label > span { min-width: 0; overflow-wrap: anywhere; }
.choices b { font-weight: 600; }
.choices small { display: block; color: var(--soft); font-size: 0.875rem; }
input[type="radio"], input[type="checkbox"] { accent-color: var(--accent); flex: none; width: 1rem; height: 1rem; margin: 0; position: relative; top: 0.12rem; }
.list { list-style: none; margin: 0; padding: 0; }
.list > li { padding: 1rem 0; border-top: 1px solid var(--line); }
.list > li:first-child { border-top: 0; padding-top: 0; }
.list form { margin-top: 0.75rem; }
.list h2 { margin: 0 0 0.25rem; }
.list p { margin: 0; color: var(--soft); font-size: 0.9rem; }
@media (max-width: 30rem) {
  body { padding: 0; background: var(--card); }
  .card { margin: 0; max-width: none; padding: 1.5rem 1.25rem; border: 0; border-radius: 0; box-shadow: none; }
}
@media (forced-colors: active) { .card { border: 1px solid; } }
`;
