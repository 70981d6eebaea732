import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createRegistry } from "../src/server/metrics/registry.ts";
import { ROOT } from "./support/sources.ts";
import { verifies } from "./support/verifies.ts";

const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

const DASHBOARD = "deploy/grafana/receivables.json";
const ALERTS = "deploy/prometheus/alerts.yaml";
const MANUAL = "docs/operations.md";

const metrics = createRegistry().register.getMetricsAsArray() as unknown as {
  name: string;
  type: string;
}[];
const names = metrics.map(({ name }) => name);

/** The names of the series that the metrics consist of. */
const series = new Set(
  metrics.flatMap(({ name, type }) =>
    type === "histogram" ? ["_bucket", "_sum", "_count"].map((part) => name + part) : [name],
  ),
);

const NAME = /\b(?:receivables|nodejs|process)_[a-z0-9_]+/g;
const namesIn = (text: string): string[] => [...new Set(text.match(NAME) ?? [])];

type Dashboard = { panels: { title: string; type: string; targets?: { expr: string }[] }[] };

verifies("OP-31");
describe("files for monitoring", () => {
  it.each([DASHBOARD, ALERTS])("%s names only metrics that exist", (path) => {
    const used = namesIn(read(path));
    expect(used.length).toBeGreaterThan(5);
    expect(used.filter((name) => !series.has(name))).toEqual([]);
  });

  it("the dashboard shows every metric of the program, each panel by a query", () => {
    const { panels } = JSON.parse(read(DASHBOARD)) as Dashboard;
    const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    const shown = namesIn(queries.join("\n"));
    const own = names.filter((name) => name.startsWith("receivables_"));
    expect(own.filter((name) => !shown.some((one) => one.startsWith(name)))).toEqual([]);
    const empty = panels.filter(({ type, targets = [] }) => type !== "row" && targets.length === 0);
    expect(empty).toEqual([]);
  });

  it("the manual has a row for each metric of the program and for each alert", () => {
    const rows = [...read(MANUAL).matchAll(/^\| `(\w+)` /gm)].map(([, name = ""]) => name);
    const alerts = [...read(ALERTS).matchAll(/- alert: (\w+)/g)].map(([, name = ""]) => name);
    const own = names.filter((name) => name.startsWith("receivables_"));
    const named = rows.filter((row) => /^[rR]eceivables/.test(row));
    expect(named.toSorted()).toEqual([...own, ...alerts].toSorted());
  });
});
