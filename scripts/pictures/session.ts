import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Html, html } from "../../src/pages/html.ts";
import type { Table, Turn } from "../demo/conversation.ts";
import type { Studio } from "./studio.ts";

const DEMO = join(import.meta.dirname, "../demo.ts");
const MAX_ROWS = 4;

/** Holds the demo conversations and returns their first turns: a pasted mail, and the opening of disputes. */
const readTurns = async (): Promise<Turn[]> => {
  const { stdout } = await promisify(execFile)(process.execPath, [DEMO, "--json"]);
  const turns = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Turn | object)
    .filter((one) => "conversation" in one);
  const change = turns.find(({ confirmations }) => confirmations.length > 0);
  return [turns[0], change].filter((turn) => turn !== undefined);
};

const STYLE = `
:root { color-scheme: light dark; --page: #eef1f4; --card: #fff; --ink: #16202a; --soft: #55636f; --line: #d5dce2;
  --accent: #0b6e5f; --tint: #eaf4f2; --ask: #fff6e0; --ask-line: #e8cf8e; }
@media (prefers-color-scheme: dark) { :root { --page: #0f1418; --card: #192127; --ink: #e9eff3; --soft: #a3b1bc;
  --line: #34414b; --accent: #5cc9b5; --tint: #16302c; --ask: #2e2714; --ask-line: #6b5a24; } }
body { margin: 0; padding: 28px; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
.question { width: fit-content; max-width: 75%; margin: 0 0 18px auto; padding: 10px 16px; border-radius: 16px 16px 4px 16px;
  background: var(--accent); color: var(--card); font-weight: 500; white-space: pre-line; }
.reply { margin: 0 0 26px; padding: 18px 20px; background: var(--card); border: 1px solid var(--line); border-radius: 4px 16px 16px 16px; }
.call { display: inline-block; margin: 0 8px 10px 0; padding: 3px 10px; border-radius: 8px; background: var(--tint); color: var(--soft);
  font: 13px/1.5 ui-monospace, monospace; }
.call b { color: var(--accent); font-weight: 600; }
.ask { margin: 2px 0 12px; padding: 10px 14px; border: 1px solid var(--ask-line); border-radius: 10px; background: var(--ask); white-space: pre-line; }
.ask b { display: block; font-size: 13px; color: var(--soft); font-weight: 600; }
p { margin: 0 0 10px; }
table { width: 100%; border-collapse: collapse; font-size: 14px; }
th, td { padding: 6px 14px 6px 0; text-align: left; border-top: 1px solid var(--line); vertical-align: top; }
th { border-top: 0; color: var(--soft); font-weight: 600; }
.number { text-align: right; white-space: nowrap; }
td:first-child { white-space: nowrap; }
`;

const renderTable = ({ head, rows, numeric = [] }: Table): Html => {
  const cells = (tag: "th" | "td", row: readonly (string | number)[]): Html[] =>
    row.map((cell, place) => {
      const style = numeric.includes(place) ? html` class="number"` : undefined;
      return tag === "th" ? html`<th${style}>${cell}</th>` : html`<td${style}>${cell}</td>`;
    });
  const lines = rows.slice(0, MAX_ROWS).map(
    (row) =>
      html`<tr>
        ${cells("td", row)}
      </tr>`,
  );
  return html`<table>
    <tr>
      ${cells("th", head)}
    </tr>
    ${lines}
  </table>`;
};

const renderTurn = ({ question, pasted, calls, confirmations, answer }: Turn): Html =>
  html`<p class="question">${pasted === undefined ? question : `${question}\n\n${pasted}`}</p>
    <div class="reply">
      ${calls.map(({ tool, tokens }) => html`<span class="call"><b>${tool}</b> ${tokens} tokens</span>`)}
      ${confirmations.map(
        ({ question: asked, confirmed }) =>
          html`<p class="ask">
            <b>The server asks you first</b>${asked} <strong>${confirmed ? "Yes" : "No"}</strong>
          </p>`,
      )}
      ${answer.map((part) => (typeof part === "string" ? html`<p>${part}</p>` : renderTable(part)))}
    </div>`;

/** Shows a question to the demo tenant and a change with its confirmation, as a chat. */
export const drawSession = async ({ page, take }: Studio): Promise<void> => {
  const view = await page({ width: 1000, height: 100 });
  const body = (await readTurns()).map(renderTurn);
  await view.setContent(
    html`<!doctype html>
      <html lang="en">
        <head>
          <title>A session</title>
          ${{ html: `<style>${STYLE}</style>` }}
        </head>
        <body>
          ${body}
        </body>
      </html>`.html,
  );
  const height = await view.$eval("body", ({ scrollHeight }) => scrollHeight);
  await view.setViewport({ width: 1000, height, deviceScaleFactor: 1.5 });
  await take(view, "session");
  await view.close();
};
