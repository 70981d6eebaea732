import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { Turn } from "../../scripts/demo/conversation.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const MAX_REPLY_TOKENS = 2000;

type Ended = { status: number; stdout: string; stderr: string };

const runDemo = (args: string[], env: Record<string, string> = {}): Promise<Ended> =>
  new Promise((resolve) => {
    execFile(
      process.execPath,
      [join(ROOT, "scripts", "demo.ts"), ...args],
      { env: { ...process.env, ...env } },
      (error, stdout, stderr) => {
        const status = error === null ? 0 : Number(error.code ?? -1);
        resolve({ status, stdout, stderr });
      },
    );
  });

describe("npm run demo", () => {
  let ended: Ended;
  let turns: Turn[];
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "receivables-demo-test-"));
    ended = await runDemo(["--json"], { TMPDIR: folder });
    const [, ...lines] = ended.stdout.trimEnd().split("\n");
    turns = lines.map((line) => JSON.parse(line) as Turn);
  }, 60_000);

  const readAnswer = (question: RegExp): string =>
    JSON.stringify(turns.find((turn) => question.test(turn.question))?.answer);

  it("holds the conversations to their end and leaves no data behind", () => {
    expect([ended.stderr, ended.status]).toEqual(["", 0]);
    expect(new Set(turns.map(({ conversation }) => conversation))).toEqual(
      new Set(["Dispute triage", "Short payment", "Month-end report"]),
    );
    expect(readdirSync(folder)).toEqual([]);
    rmSync(folder, { recursive: true });
  });

  it("answers each question with at most three calls of at most 2,000 tokens", () => {
    for (const { question, calls } of turns) {
      expect(calls.length, question).toBeGreaterThan(0);
      expect(calls.length, question).toBeLessThanOrEqual(3);
      for (const { tool, tokens } of calls) {
        expect(tokens, `${question}: ${tool}`).toBeLessThanOrEqual(MAX_REPLY_TOKENS);
      }
    }
  });

  it("closes a dispute only after the person has confirmed", () => {
    const confirming = turns.filter(({ confirmations }) => confirmations.length > 0);
    expect(confirming).toHaveLength(1);
    const [closing] = confirming;
    expect(closing?.confirmations[0]?.question).toMatch(
      /^Close dispute D-\S+ of .+, [\d,.]+ [A-Z]{3}, as /,
    );
    expect(closing?.calls.at(-1)?.tool).toBe("disputes_update");
    expect(readAnswer(/Close the later one/)).toContain("DUPLICATE");
  });

  it("explains the disputes of the account with the largest deductions by its payments", () => {
    expect(readAnswer(/deductions explain/)).toMatch(/"exact","CP-\d+"/);
  });

  it("writes the conversations that the documents show", async () => {
    const { status, stdout } = await runDemo(["--markdown"]);
    expect(status).toBe(0);
    const listHeadings = (page: string): string[] =>
      (page.match(/^#+ .+$/gm) ?? []).map((line) => line.replaceAll(/\d{4}-\d\d/g, "MONTH"));
    const page = readFileSync(join(ROOT, "docs", "conversations.md"), "utf8");
    expect(listHeadings(page)).toEqual(listHeadings(stdout));
  });

  it("prints a transcript without color if the output is not a terminal", async () => {
    const { status, stdout } = await runDemo([]);
    expect(status).toBe(0);
    expect(stdout).toContain("No model is involved");
    expect(stdout).toContain("The server asks:");
    expect(stdout.includes("\u001B")).toBe(false);
  });

  it("ends with status 1 and a reason when it cannot continue", async () => {
    const { status, stderr } = await runDemo(["--json"], { TMPDIR: join(folder, "missing") });
    expect(status).toBe(1);
    expect(stderr).toMatch(/^The demo failed: /);
  });
});
