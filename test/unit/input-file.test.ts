import { execFileSync } from "node:child_process";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, expect, it, vi } from "vitest";
import { openInput } from "../../src/bin/commands/input-file.ts";
import { useFolder } from "../support/folder.ts";
import { verifies } from "../support/verifies.ts";

const folder = useFolder();
afterEach(() => vi.unstubAllEnvs());

verifies("HS-06");
it("a pipe is read as often as needed, from a file that an ended process does not leave behind", async () => {
  vi.stubEnv("TMPDIR", folder);
  const pipe = join(folder, "payments.csv");
  execFileSync("mkfifo", [pipe]);
  const sent = "a;b\n".repeat(50_000);
  const [input] = await Promise.all([openInput(pipe), writeFile(pipe, sent)]);
  expect(input).toMatchObject({ name: "payments.csv", size: undefined });
  expect([await text(input.bytes()), await text(input.bytes())]).toEqual([sent, sent]);
  expect(await readdir(folder)).toEqual(["payments.csv"]);
  await input.close();
  await expect(text(input.bytes())).rejects.toThrow();
});
