import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sanitizeText } from "../../src/mcp/results/sanitize.ts";
import { accountAt } from "../support/ingest.ts";
import { CONFIGURATION, DISPUTES, onEveryStore } from "../support/platform.ts";
import { readFramedData, readProblem } from "./hosts.ts";
import { openOperationTenant } from "./operation-tenant.ts";
import { verifies } from "../support/verifies.ts";

const MORE = " Done.";
const RUNS = 60;

/** Texts of any characters that a record may hold, and such that look like markup or a wrong encoding. */
const texts = fc
  .oneof(
    fc.string({ unit: "binary", minLength: 1, maxLength: 60 }),
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 60 }),
    fc
      .array(
        fc.constantFrom(
          ...Array.from("<>[]()!`~:*_\\&|\"'\r\n\t\u009d\u0090\u200b\u200c\u200d\u202e\ufe0f"),
          "&lt;",
          "\\u003c",
          "می\u200cخواهم",
          "क्\u200dष",
          "👩\u200d🚀",
          "❤️",
          "1️⃣",
          "word",
        ),
        { minLength: 1, maxLength: 20 },
      )
      .map((parts) => parts.join("")),
  )
  .filter((text) => text.trim() !== "" && !text.includes("\u0000") && text.isWellFormed());

verifies("HS-07");
onEveryStore("text that is read, added to and written back", (at) => {
  const tenant = openOperationTenant(at, "round");

  const send = async (method: string, path: string, body?: unknown) => {
    const sent = await tenant().admin.call(method, path, body === undefined ? {} : { body });
    if (sent.status >= 300) throw new Error(sent.text);
    return sent.body;
  };

  /** Plays one round: either every other character stays, or nothing changes and the answers say why. */
  const play = async (
    text: string,
    field: string,
    round: {
      store(text: string): Promise<string>;
      read: [tool: string, args: Record<string, unknown>];
      write: [tool: string, args: Record<string, unknown>];
    },
  ): Promise<void> => {
    const { call } = tenant();
    const stored = await round.store(text);
    const [readTool, readArgs] = round.read;
    const seen = await call(readTool, readArgs);
    const shown = String(seen.structuredContent?.[field]);
    expect(readFramedData(seen)).toEqual(seen.structuredContent);
    expect(shown).toBe(sanitizeText(stored, "stored"));
    const [writeTool, writeArgs] = round.write;
    const written = await call(writeTool, { ...writeArgs, [field]: shown + MORE });
    const after = String((await call(readTool, readArgs)).structuredContent?.[field]);
    if (shown === stored) {
      expect(written.isError, JSON.stringify(text)).toBeFalsy();
      expect(after).toBe(stored + MORE);
      return;
    }
    expect(seen._meta?.["receivables/removed"]).toMatchObject([{ field }]);
    if (written.isError !== true) return;
    expect(readProblem(written)).toMatchObject({ code: "conflict" });
    expect(after).toBe(shown);
  };

  it("keeps every other character of a note", async () => {
    expect.hasAssertions();
    const { disputeId } = tenant().records.dispute;
    const path = `${DISPUTES}/${disputeId}/disputenotes`;
    const { disputeNoteId: noteId } = await send("POST", path, { content: "first" });
    const args = { disputeId, noteId };
    await fc.assert(
      fc.asyncProperty(texts, (text) =>
        play(text, "content", {
          store: async (content) => {
            await send("PUT", `${path}/${noteId}`, { content });
            return (await send("GET", `${path}/${noteId}`)).content;
          },
          read: ["dispute_notes_get", args],
          write: ["dispute_notes_update", args],
        }),
      ),
      { numRuns: RUNS },
    );
  });

  it("keeps every other character of a name", async () => {
    const ingest = await at().exportCaller("round", ["ingest:read", "ingest:write"]);
    const path = accountAt("RT-1");
    const args = { account_number: "RT-1" };
    await fc.assert(
      fc.asyncProperty(texts, (text) =>
        play(text, "name", {
          store: async (name) => {
            const body = { name, currency: "USD" };
            const sent = await ingest("PUT", path, { body });
            expect(sent.status, sent.text).toBeLessThan(300);
            return (await ingest("GET", path)).body.name;
          },
          read: ["accounts_get", args],
          write: ["accounts_update", args],
        }),
      ),
      { numRuns: RUNS },
    );
  });

  it("keeps every other character of a description", async () => {
    expect.hasAssertions();
    const { departmentId, departmentCode } = tenant().records.department;
    const path = `${CONFIGURATION}/departments/${departmentId}`;
    await fc.assert(
      fc.asyncProperty(texts, (text) =>
        play(text, "description", {
          store: async (description) => {
            await send("PUT", path, { description });
            return (await send("GET", path)).description;
          },
          read: ["departments_get", { departmentCode }],
          write: ["departments_update", { departmentId }],
        }),
      ),
      { numRuns: RUNS },
    );
  });

  it("is refused with the way to append where characters were removed or the text was cut", async () => {
    const { call, records } = tenant();
    const { disputeId } = records.dispute;
    const path = `${DISPUTES}/${disputeId}/disputenotes`;
    const content = "Caf\u00c3\u009d \u202eagreed\u202c on the price.";
    const { disputeNoteId: noteId } = await send("POST", path, { content });
    const args = { disputeId, noteId };
    const seen = await call("dispute_notes_get", args);
    expect(seen.content[0]?.text).toContain("content (U+009D, U+202E, U+202C)");
    const shown = String(seen.structuredContent?.["content"]);
    expect(shown).toBe("Caf\u00c3 agreed on the price.");
    const written = await call("dispute_notes_update", { ...args, content: shown + MORE });
    expect(readProblem(written).nextStep).toContain("dispute_notes_create");
    expect((await send("GET", `${path}/${noteId}`)).content).toBe(content);
    const long = "漢".repeat(10_000);
    await send("PUT", `${path}/${noteId}`, { content: long });
    const cut = { ...args, content: "漢漢… [9998 more characters] Done." };
    expect(readProblem(await call("dispute_notes_update", cut)).code).toBe("conflict");
    const words = `The customer agreed ${"on the price of the first order ".repeat(200)}`;
    await send("PUT", `${path}/${noteId}`, { content: words });
    for (const [tool, named] of [
      ["dispute_packet", { disputeId }],
      ["disputes_triage", {}],
    ] as const) {
      const found = JSON.stringify((await call(tool, named)).structuredContent);
      const [brief] = /The customer agreed [a-z ]+\u2026?/.exec(found) ?? [""];
      const content = `${brief} Done.`;
      const isWhole = brief.length >= words.length - 1;
      const sent = await call("dispute_notes_update", { ...args, content });
      expect([tool, isWhole, sent.isError === true]).toEqual([tool, isWhole, !isWhole]);
    }
    expect((await send("GET", `${path}/${noteId}`)).content.length).toBeGreaterThan(6000);
    // An ellipsis of the writer, where nothing was cut.
    await send("PUT", `${path}/${noteId}`, { content: words });
    const own = { ...args, content: `${words.trim()}\u2026 and on the rest\u2026` };
    expect((await call("dispute_notes_update", own)).isError).toBeFalsy();
    await send("PUT", `${path}/${noteId}`, { content: "Price < 5" });
    const escaped = { ...args, content: "Price &lt; 5 Done." };
    expect(readProblem(await call("dispute_notes_update", escaped)).code).toBe("conflict");
    const other = { ...args, content: "Something else." };
    expect((await call("dispute_notes_update", other)).isError).toBeFalsy();
  });
});

describe("characters that join", () => {
  verifies("HS-07");
  it.each([
    "می\u200cخواهم",
    "क्\u200dष",
    "ക്\u200d",
    "র\u200d\u09cdয",
    "👩\u200d🚀 👨🏽\u200d👩\u200d👧 ❤️\u200d🔥 ☺️ ☎︎ 1️⃣ #️⃣",
    "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
  ])("stay in words and emoji: %s", (text) => {
    expect(sanitizeText(text)).toBe(text);
    expect(sanitizeText(`a ${text} b`, "stored")).toBe(`a ${text} b`);
  });
});
