import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { Turn } from "../../scripts/demo/conversation.ts";
import { type Answered, createTasks } from "../../scripts/demo/tasks/answer.ts";
import { demoAt } from "../support/demo.ts";
import { openDemoSql } from "../support/demo-sql.ts";

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
  let tasks: Answered[];
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "receivables-demo-test-"));
    ended = await runDemo(["--json"], { TMPDIR: folder });
    const [, ...lines] = ended.stdout.trimEnd().split("\n");
    const parsed = lines.map((line) => JSON.parse(line) as Turn | { tasks: Answered[] });
    turns = parsed.filter((one) => "conversation" in one);
    tasks = parsed.flatMap((one) => ("tasks" in one ? one.tasks : []));
  }, 60_000);

  const readAnswer = (question: RegExp): string =>
    JSON.stringify(turns.find((turn) => question.test(turn.question))?.answer);

  it("holds the conversations to their end and leaves no data behind", () => {
    expect([ended.stderr, ended.status]).toEqual(["", 0]);
    expect(new Set(turns.map(({ conversation }) => conversation))).toEqual(
      new Set(["A claim mail", "A month end", "A Monday morning"]),
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

  it("opens and closes disputes only after the person has confirmed", () => {
    const confirming = turns.filter(({ confirmations }) => confirmations.length > 0);
    expect(confirming.map(({ calls }) => calls.map(({ tool }) => tool))).toEqual([
      ["disputes_open"],
      ["disputes_apply"],
    ]);
    const [opening, closing] = confirming.map(({ confirmations }) => confirmations[0]?.question);
    expect(opening).toMatch(/^Open 2 disputes\?\n1\. 18,344\.59 EUR on 5175739 of .+\[Doubt: /);
    expect(closing).toMatch(
      /\n1\. Close dispute D-\S+ of .+, [\d,.]+ [A-Z]{3}, as [A-Z-]+, .+ note "/,
    );
    expect(readAnswer(/Close it as proposed/)).toContain("applied");
  });

  it("finds nothing to open in a mail that was taken in before", () => {
    expect(readAnswer(/a second time/)).toContain("0 lines left to open");
    expect(readAnswer(/a second time/)).not.toContain('["P60724",""]');
  });

  it("answers forty tasks with at most three calls of at most 2,000 tokens each", async () => {
    const now = Date.now();
    const asked = createTasks(new Date(now));
    expect(tasks.map(({ question }) => question)).toEqual(asked.map(({ question }) => question));
    expect(tasks).toHaveLength(40);
    const database = openDemoSql(await demoAt(now), now);
    const sorted = (rows: unknown[][]) => rows.map((row) => JSON.stringify(row)).toSorted();
    for (const [place, { question, calls, figures }] of tasks.entries()) {
      const sql = asked[place]?.sql;
      expect(calls.length, question).toBeLessThanOrEqual(3);
      for (const { tokens } of calls)
        expect(tokens, question).toBeLessThanOrEqual(MAX_REPLY_TOKENS);
      expect(figures.length, question).toBeGreaterThan(0);
      // JSON shows a figure that a result lacks as null; SQL checks the figures that may be null.
      if (sql === undefined) expect(JSON.stringify(figures), question).not.toContain("null");
      else {
        const rows = database
          .prepare(sql)
          .all()
          .map((row) => Object.values(row));
        const isOrdered = sql.lastIndexOf("order by") > sql.lastIndexOf(")");
        if (isOrdered) expect(figures, question).toEqual(rows);
        else expect(sorted(figures), question).toEqual(sorted(rows));
      }
    }
    database.close();
    expect(asked.filter(({ sql }) => sql !== undefined).length).toBeGreaterThanOrEqual(30);
  });

  it("measures what tasks take without past days, parents, claims, changes and statements", () => {
    const asked = createTasks(new Date());
    const told = tasks.filter(({ before = [] }) => before.length > 0);
    expect(tasks.map(({ before }) => before?.length === 0)).toEqual(
      asked.map(({ before }) => before?.length === 0),
    );
    expect(told.length).toBeGreaterThan(10);
    for (const { question, calls, before = [] } of told) {
      expect(before.length, question).toBeGreaterThanOrEqual(calls.length);
    }
    const tokensOf = (calls: Answered["calls"]) => calls.reduce((sum, one) => sum + one.tokens, 0);
    const before = told.reduce((sum, one) => sum + tokensOf(one.before ?? []), 0);
    const after = told.reduce((sum, one) => sum + tokensOf(one.calls), 0);
    expect(before).toBeGreaterThan(5 * after);
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
