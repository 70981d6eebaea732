import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { Flusher } from "../../src/kit/sqlite/driver/flusher.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "flusher-"));
});

it("shares one flush between the calls that arrive while another runs", async () => {
  const path = join(folder, "log");
  writeFileSync(path, "text");
  const flusher = new Flusher(path);
  const first = flusher.flush();
  const second = flusher.flush();
  expect(flusher.flush()).toBe(second);
  expect(first).not.toBe(second);
  await Promise.all([first, second]);
  expect(flusher.flush()).not.toBe(second);
  flusher.flushNow();
  await flusher.close();
});

it("fails where the file is missing, and flushes once it is there", async () => {
  const path = join(folder, "log");
  const flusher = new Flusher(path);
  expect(() => flusher.flushNow()).toThrow("ENOENT");
  const [first, second] = await Promise.allSettled([flusher.flush(), flusher.flush()]);
  expect([first.status, second.status]).toEqual(["rejected", "rejected"]);
  writeFileSync(path, "text");
  await flusher.flush();
  await flusher.close();
});
