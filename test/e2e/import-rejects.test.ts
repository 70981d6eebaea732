import { link, mkdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { runCli } from "../support/cli.ts";
import { useFolder } from "../support/folder.ts";
import { verifies } from "../support/verifies.ts";

const folder = useFolder();
const rejects = join(folder, "log.ndjson.rejects.ndjson");
const victim = join(folder, "victim");
const cli = (...line: string[]) =>
  runCli(line, { RECEIVABLES_DATA: join(folder, "data"), RECEIVABLES_LOG: "warn" }, "", folder);
const run = () => cli("import", "audit-logs", "log.ndjson", "--tenant", "acme");

beforeAll(async () => {
  await cli("admin", "tenant", "create", "acme", "--name", "Acme Inc.");
  await writeFile(join(folder, "log.ndjson"), '{"id":"one"}\n');
});
afterEach(() => rm(rejects, { recursive: true, force: true }));

describe("the file of an import's rejected rows", () => {
  verifies("C-103");
  it("is private, and a second import replaces it", async () => {
    for (let times = 0; times < 2; times++) {
      const { status, stdout } = await run();
      expect([status, JSON.parse(stdout)]).toEqual([
        1,
        expect.objectContaining({ rejected: 1, rejects }),
      ]);
      expect((await readFile(rejects, "utf8")).trim().split("\n")).toHaveLength(1);
      expect((await stat(rejects)).mode & 0o777).toBe(0o600);
    }
  });

  verifies("C-103");
  it("leaves the other name of a hard link as it was", async () => {
    await writeFile(victim, "untouched");
    await link(victim, rejects);
    expect((await run()).status).toBe(1);
    expect(await readFile(victim, "utf8")).toBe("untouched");
    expect(await readFile(rejects, "utf8")).not.toBe("untouched");
  });

  verifies("C-103");
  it.each([
    ["a symbolic link to a file", () => symlink(victim, rejects)],
    ["a dangling symbolic link", () => symlink(join(folder, "absent"), rejects)],
    ["a folder", () => mkdir(rejects)],
  ])("is refused before the import begins where its name is %s", async (_kind, make) => {
    await writeFile(victim, "untouched");
    await make();
    const { status, stdout, stderr } = await run();
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(rejects);
    expect(await readFile(victim, "utf8")).toBe("untouched");
    await expect(stat(join(folder, "absent"))).rejects.toThrow("ENOENT");
  });
});
