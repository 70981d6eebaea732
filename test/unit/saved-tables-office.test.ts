import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { describe, expect, it } from "vitest";
import { neutralizeParts, neutralizeText } from "../../src/mcp/files/saved/neutralize.ts";
import { sanitizeText } from "../../src/mcp/results/sanitize.ts";
import { NAMES, ROWS, tableOf, toCsv, toXlsx } from "../support/saved-tables.ts";
import { verifies } from "../support/verifies.ts";

const SOFFICE = ["/usr/bin/soffice", "/usr/bin/libreoffice"].find((path) => existsSync(path));

/** Opens a file in LibreOffice and returns its cells as it computes and shows them. */
const openInOffice = async (folder: string, name: string, filter = ""): Promise<string[][]> => {
  const profile = `-env:UserInstallation=file://${join(folder, "profile")}`;
  const target = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,1";
  const infilter = filter === "" ? [] : [`--infilter=${filter}`];
  const args = [profile, "--headless", ...infilter, "--convert-to", target];
  const out = join(folder, `of-${name}`);
  execFileSync(SOFFICE ?? "", [...args, "--outdir", out, join(folder, name)], {
    stdio: "ignore",
    timeout: 100_000,
  });
  const [sheet = ""] = await readdir(out);
  return parse(await readFile(join(out, sheet), "utf8"), { bom: true });
};

verifies("WK-90");
describe.skipIf(SOFFICE === undefined)("LibreOffice", () => {
  it("shows every value of both files, and computes none", { timeout: 120_000 }, async () => {
    const folder = await mkdtemp(join(tmpdir(), "tables-"));
    await writeFile(join(folder, "table.xlsx"), await toXlsx(tableOf(NAMES, ROWS)));
    await writeFile(join(folder, "table.csv"), await toCsv(tableOf(NAMES, ROWS)));
    const workbook = await openInOffice(folder, "table.xlsx");
    // Comma, double quote, UTF-8, from the first row; formulas would be computed.
    const text = await openInOffice(folder, "table.csv", "Text - txt - csv (StarCalc):44,34,76,1");
    const noted = ROWS.map(({ note }) => note ?? "");
    const toShown = (note: unknown): string =>
      neutralizeText(sanitizeText(String(note), "stored")).replaceAll("\r", "\n");
    expect(workbook[0]).toEqual(NAMES);
    expect(workbook.slice(1).map((row) => row.at(-1))).toEqual(noted.map(toShown));
    expect(text.slice(1).map((row) => row.at(-1)?.replaceAll("\r", "\n"))).toEqual(
      noted.map((note) => neutralizeParts(toShown(note))),
    );
    expect(workbook[1]).toEqual(["D-1", "80.5", "2026-03-29 01:30:00", "2026-01-31", "", "", ""]);
    expect(workbook.map(([code]) => code)).toEqual(["code", ...ROWS.map(({ code }) => code)]);
    expect(text.map(([code]) => code)).toEqual(["code", ...ROWS.map(({ code }) => code)]);
  });
});
