import { describe, expect, it } from "vitest";
import { dangers } from "../support/uploads/dangers.ts";
import { harmless } from "../support/uploads/harmless.ts";
import { scan } from "../support/uploads/scan.ts";
import { verifies } from "../support/verifies.ts";

describe("scan of dangerous files", () => {
  verifies("FL-02", "C-94");
  it.each(dangers)("refuses $title", async ({ fileName, bytes, status, code }) => {
    expect(await scan(fileName, bytes)).toMatchObject({ status, failureReasons: [{ code }] });
  });

  verifies("FL-03");
  it("names the part that is refused", async () => {
    const found = dangers.find(({ title }) => title === "a mail with a ZIP with a program");
    const verdict = await scan("a.eml", found?.bytes ?? Buffer.alloc(0));
    expect(verdict).toMatchObject({
      failureReasons: [{ message: "a.zip: a.exe: Programs and scripts (.exe) are not accepted." }],
    });
  });
});

describe("scan of unusual files", () => {
  verifies("FL-03", "FL-04", "FL-05");
  it.each(harmless)("accepts $title", async ({ fileName, bytes, warnings }) => {
    const verdict = await scan(fileName, bytes);
    expect(verdict).toMatchObject({ status: "Available" });
    const found = verdict.status === "Available" ? verdict.warnings : [];
    expect(found.map(({ code }) => code)).toEqual(warnings);
    for (const { message } of found) expect(message.length).toBeGreaterThan(10);
  });
});
