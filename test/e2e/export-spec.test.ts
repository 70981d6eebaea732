import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import about from "../../package.json" with { type: "json" };
import { createOpenApi } from "../../src/contract/openapi.ts";
import { runCli } from "../support/cli.ts";

it("prints the API document without opening a store", async () => {
  const folder = mkdtempSync(join(tmpdir(), "export-spec-"));
  const data = join(folder, "data");
  try {
    const { status, stdout, stderr } = await runCli(["export-spec"], {
      RECEIVABLES_DATA: data,
      RECEIVABLES_HEADER_WORD: "Acme",
    });
    expect([status, stderr]).toEqual([0, ""]);
    const expected = createOpenApi({ headerWord: "Acme", version: about.version });
    expect(stdout).toBe(`${JSON.stringify(expected)}\n`);
    expect(existsSync(data)).toBe(false);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
