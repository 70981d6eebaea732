import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "..", "..");

type Ended = { status: number; stdout: string; stderr: string };

const demo = (args: string[], env: Record<string, string> = {}): Promise<Ended> =>
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

const STEPS = [
  "connect",
  "guide",
  "configuration",
  "open-disputes",
  "picks",
  "papers",
  "reassign",
  "notes",
  "close-duplicate",
  "result",
  "credit",
  "audit",
  "done",
];

// oxlint-disable-next-line typescript/no-explicit-any -- what a script would do with the lines
type Line = any;

describe("npm run demo", () => {
  let ended: Ended;
  let lines: Line[];
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "receivables-demo-test-"));
    ended = await demo(["--json"], { TMPDIR: folder });
    lines = ended.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
  }, 60_000);

  const step = (name: string): Line => lines.find((line) => line.step === name);

  it("succeeds and prints one JSON line per step", () => {
    expect([ended.stderr, ended.status]).toEqual(["", 0]);
    expect(lines.map((line) => line.step)).toEqual(STEPS);
    expect(step("done")).toEqual({ step: "done", ok: true });
  });

  it("finds old disputes without an owner, those of a leaver, and a claim entered twice", () => {
    const { unassigned, orphaned, duplicates } = step("picks");
    expect(unassigned.length).toBeGreaterThan(3);
    expect(orphaned.length).toBeGreaterThan(0);
    const { moves, calls } = step("reassign");
    expect(moves.length).toBe(4 + orphaned.length);
    expect(calls.map((call: Line) => call.tool)).toEqual(moves.map(() => "disputes_update"));
    for (const move of moves) expect(move.after).not.toBe(move.before);
    expect(step("close-duplicate")).toMatchObject({
      kept: duplicates[0][0],
      closed: duplicates[0][1],
    });
  });

  it("compares claims with their invoices, and reads a customer's file", () => {
    const { documents, over, mail, quotes, calls } = step("papers");
    expect(documents).toHaveLength(5);
    expect(over).toBe(0);
    for (const { claimed, open, files } of documents) {
      expect(claimed).toBeLessThanOrEqual(open);
      expect(files).toBeGreaterThan(0);
    }
    expect(mail).toMatch(/^invoice-\d+\.eml$/);
    expect(quotes).toHaveLength(1);
    expect(quotes[0].words).toContain(mail.slice("invoice-".length, -".eml".length));
    expect(calls.map(({ tool }: Line) => tool)).toContain("dispute_attachments_download");
  });

  it("reads a credit application and counts its answers", () => {
    const { waiting, company, answers } = step("credit");
    expect(waiting).toBeGreaterThan(4);
    expect(company).toMatch(/\w/);
    expect(answers).toBeGreaterThan(12);
  });

  it("closes disputes only after the person has agreed", () => {
    const { quotes, calls, closed } = step("close-duplicate");
    const asked = quotes.find(({ who }: Line) => who === "The server asks:");
    const closing = calls.find(({ tool }: Line) => tool === "disputes_update");
    expect(asked.words).toMatch(/^Close dispute D-\S+ of .+, [\d,.]+ [A-Z]{3}, as /);
    expect(asked.words).toContain(closed);
    expect(asked.words).toContain(closing.arguments.resolutionCode);
  });

  it("changes exactly what it reports", () => {
    const { unassigned, orphaned } = step("picks");
    const touched = new Set([
      step("close-duplicate").closed,
      ...step("reassign").moves.map(({ code }: Line) => code),
    ]);
    const worked = (codes: string[]): number => codes.filter((code) => touched.has(code)).length;
    const { rows } = step("result");
    expect(rows.map(({ before, after }: Line) => before - after)).toEqual([
      1,
      worked(unassigned),
      worked(orphaned),
      1,
    ]);
    expect(worked(unassigned)).toBeGreaterThanOrEqual(4);
    expect(worked(orphaned)).toBe(orphaned.length);
  });

  it("finds each of its calls in the audit log", () => {
    const { tools, missing } = step("audit");
    expect(missing).toBe(0);
    for (const { calls, entries } of tools) expect(entries).toBeGreaterThanOrEqual(calls);
    expect(tools.find(({ tool }: Line) => tool === "disputes_update").actions).toEqual(
      expect.arrayContaining(["dispute.updated", "dispute.closed"]),
    );
  });

  it("leaves no data behind", () => {
    expect(readdirSync(folder)).toEqual([]);
    rmSync(folder, { recursive: true });
  });

  it("prints a transcript without colour if the output is not a terminal", async () => {
    const { status, stdout } = await demo([]);
    expect(status).toBe(0);
    expect(stdout).toContain("No model is involved");
    expect(stdout).toContain("The server asks:");
    expect(stdout).toMatch(/Federal tax ID +\*{4}\d{4}\n/);
    expect(stdout).toMatch(/Account number +\*{4}\d{4}\n/);
    expect(stdout).toMatch(/over 90 days +\d+ +[\d,]+\.\d\d [A-Z]{3}/);
    expect(stdout.includes("\u001B")).toBe(false);
    const longest = Math.max(...stdout.split("\n").map((line) => line.length));
    expect(longest).toBeLessThanOrEqual(130);
  });

  it("ends with 1 and a reason when it cannot continue", async () => {
    const { status, stdout, stderr } = await demo(["--json"], { TMPDIR: join(folder, "missing") });
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ step: "failed", ok: false });
    expect(stderr).toMatch(/^The demo failed: /);
  });
});
