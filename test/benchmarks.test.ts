import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { benchmarks } from "../bench/index.ts";
import type { Benchmark } from "../bench/measure.ts";
import { addRun, updateDocument, writeDocument } from "../bench/report/document.ts";
import { derivedRows } from "../scripts/derive/sections.ts";
import { ROOT } from "./support/sources.ts";

const text = readFileSync(join(ROOT, "docs/benchmarks.md"), "utf8");

const benchmark: Benchmark = {
  name: "fast",
  about: "this / that",
  unit: "ms",
  aim: 2,
  run: async () => ({ ours: [], base: [] }),
};

const line = { ...benchmark, ours: 3, base: 2, ratio: 1.5, verdict: "ok" as const, runs: 5 };
const written = writeDocument({
  machine: {},
  outcomes: [{ benchmark, line }],
  peers: "there is no registry",
});

describe("the document of the benchmarks", () => {
  it("names every benchmark with its aim, and the figures that missed theirs", () => {
    const rows = derivedRows(text, "benchmarks");
    expect(rows.map(([name, , , , , aim]) => [name, aim])).toEqual(
      benchmarks.map(({ name, aim }) => [`\`${name}\``, aim === null ? "none" : `≤ ${aim}`]),
    );
    const missed = rows.filter(([, , , , , , result]) => /missed|not measured/.test(result ?? ""));
    const listed = text.slice(0, text.indexOf("<!-- derived: benchmarks -->"));
    for (const [name] of missed) expect(listed).toContain(`- ${name}`);
  });

  it("gives a reason for each figure that missed its aim", () => {
    const rows = derivedRows(text, "benchmarks");
    const missed = rows.filter(([, , , , , , result]) => result === "missed");
    const explained = [...text.matchAll(/^- (`[^`]+`): [\d.]+, the aim is ≤ [\d.]+; (.+)$/gm)]
      .filter(([, , why = ""]) => why.split(" ").length > 6)
      .map(([, name]) => name);
    expect(missed.map(([name]) => name).filter((name) => !explained.includes(name))).toEqual([]);
  });

  it("contains no path and no host name of the machine", () => {
    expect(text).not.toMatch(/\/(?:home|tmp|work|root|Users|var)\//);
    expect(text).not.toMatch(/https?:/);
  });

  it("says what was not measured or compared, and why", () => {
    const failure = "not measured: failed";
    const broken = writeDocument({
      machine: {},
      outcomes: [{ benchmark, failure }],
      peers: "there is no registry",
    });
    expect(broken).toContain(`- \`fast\`: ${failure}`);
    expect(broken).toContain("Nothing was compared in this run: there is no registry.");
  });

  it("judges measured figures by the aims of today, and lists new benchmarks without figures", () => {
    expect(written).toContain("Every figure with an aim met it.");
    const stricter = { ...benchmark, aim: 1.2 };
    const updated = updateDocument(written, [stricter, { ...benchmark, name: "new" }]);
    expect(updated).toContain("- `fast`: 1.50, the aim is ≤ 1.2");
    expect(updated).toContain("- `new`: not measured yet");
    expect(derivedRows(updated, "benchmarks")[0]).toEqual([
      "`fast`",
      "this / that",
      "3 ms",
      "2 ms",
      "1.50",
      "≤ 1.2",
      "missed",
    ]);
  });

  it("takes figures of later runs, and names the latest run of each", () => {
    const slow = { ...benchmark, name: "slow" };
    const all = [benchmark, slow];
    const run = (date: string, ...outcomes: { benchmark: Benchmark; ratio: number }[]) => ({
      machine: { date, processor: "2 × fast", "Node.js": "v24" },
      outcomes: outcomes.map((one) => ({
        benchmark: one.benchmark,
        line: { ...line, ratio: one.ratio },
      })),
    });
    const both = [
      { benchmark, ratio: 1.25 },
      { benchmark: slow, ratio: 2.5 },
    ];
    const first = addRun(updateDocument(written, all), all, run("2026-01-01", ...both));
    const second = addRun(first, all, run("2026-01-02", { benchmark: slow, ratio: 1.75 }));
    expect(derivedRows(second, "later-runs")).toEqual([
      ["`fast`", "2026-01-01", "2 × fast", "v24"],
      ["`slow`", "2026-01-02", "2 × fast", "v24"],
    ]);
    const third = addRun(second, all, run("2026-01-02", { benchmark, ratio: 1 }));
    expect(derivedRows(third, "later-runs")).toEqual([
      ["`slow`, `fast`", "2026-01-02", "2 × fast", "v24"],
    ]);
    const ratios = derivedRows(second, "benchmarks").map(([name, , , , ratio]) => [name, ratio]);
    expect(ratios).toEqual([
      ["`fast`", "1.25"],
      ["`slow`", "1.75"],
    ]);
    expect(first).toContain("- `slow`: 2.50, the aim is ≤ 2");
    expect(second).toContain("Every figure with an aim met it.");
  });
});
