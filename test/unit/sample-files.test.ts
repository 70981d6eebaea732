import { mkdtemp, readdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { runCommand, SILENT } from "../support/run-command.ts";
import { verifies } from "../support/verifies.ts";

const SAMPLES = fileURLToPath(new URL("../../docs/samples/", import.meta.url));
const MANUAL = new URL("../../docs/import.md", import.meta.url);
const MAPS = ["accounts", "documents", "closures", "disputes"];

let data: string;

const run = async (...argv: string[]) => {
  const { status, printed, text } = await runCommand(data, argv, { env: SILENT });
  expect([text, status]).toEqual(["", 0]);
  return printed[0] ?? {};
};

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), "samples-"));
  await run("admin", "tenant", "create", "acme", "--name", "Acme");
});

verifies("HS-09");
describe("the sample files of the manual", () => {
  it("are those that its commands name, with the maps that it shows", async () => {
    const text = await readFile(MANUAL, "utf8");
    const blocks = [...text.matchAll(/```json\n([\s\S]*?)```/g)].map(([, json = ""]) =>
      JSON.stringify(JSON.parse(json)),
    );
    for (const name of MAPS) {
      const map = JSON.parse(await readFile(join(SAMPLES, `${name}.json`), "utf8"));
      expect(blocks, name).toContain(JSON.stringify(map));
    }
    expect((await readdir(SAMPLES)).toSorted()).toEqual(
      ["ar-invoices.csv", "open-items.csv", ...MAPS.map((name) => `${name}.json`)].toSorted(),
    );
  });

  it.each(MAPS)("import without a refused row: %s", async (kind) => {
    const file = join(SAMPLES, "ar-invoices.csv");
    const more = kind === "disputes" ? ["--create-configuration"] : [];
    const map = join(SAMPLES, `${kind}.json`);
    const report = await run("import", kind, file, "--tenant", "acme", "--map", map, ...more);
    expect(report).toMatchObject({ read: 24, rejected: 0, rejects: null });
    expect(Number(report["written"])).toBeGreaterThan(3);
  });

  it("take two commands for an accountant's file with semicolons, commas and Windows-1252", async () => {
    const file = join(SAMPLES, "open-items.csv");
    const map = join(data, "map.json");
    const euros = ["--currency", "EUR"];
    expect(
      await run("import", "suggest", "accounts", file, ...euros, "--output", map),
    ).toMatchObject({
      encoding: "windows-1252",
      delimiter: ";",
    });
    expect(await run("import", "accounts", file, "--map", map, "--tenant", "acme")).toMatchObject({
      written: 3,
      rejected: 0,
    });
    await run("import", "suggest", "documents", file, ...euros, "--output", map);
    expect(await run("import", "documents", file, "--map", map, "--tenant", "acme")).toMatchObject({
      written: 9,
      rejected: 0,
    });
  });
});
