import { describe, expect, it } from "vitest";
import { estimateTokens } from "../../src/mcp/results/tokens.ts";
import { CreditApplicationDetail } from "../../src/contract/operations/credit-applications.ts";
import { application, field, form, formType, section } from "../support/credit.ts";
import { pdfWithPages } from "../support/readable-files.ts";
import { verifies } from "../support/verifies.ts";
import { createFileStore, scannedAfter } from "./dispute-file-store.ts";
import { connectScripted, type Host, readProblem, readText } from "./hosts.ts";
import { ACCOUNT, AT, attachment, INVOICE } from "./ingest-fixtures.ts";
import { createDisputeFile, createMany, createNote, dispute, servePages } from "./records.ts";
import type { ScriptedReply } from "./script.ts";

const TOKENS = 3000;
const WORDS = "They say that two of the boxes were wet. ".repeat(4);

const accountNote = (index: number) => ({
  reference: `N-${index}`,
  accountNumber: "ACC-1",
  body: WORDS,
  effective_date: AT,
});
const run = (index: number) => ({ runId: `run-${index}`, status: "completed", errorDetail: WORDS });
const schedule = { id: "s-1", nextRunAt: AT };
const question = (index: number) =>
  field(`q-${index}`, { answerDetails: [{ answer: WORDS, index: 0, updated: false }] });

/** A page of the export API's lists. */
const servePart =
  (rows: readonly object[], beside: object): ScriptedReply =>
  ({ cursor, limit = 100 }) => {
    const from = Number(cursor ?? 0);
    const to = from + Number(limit);
    const data = rows.slice(from, to);
    const hasMore = to < rows.length;
    const pagination = { cursor: hasMore ? String(to) : null, hasMore, rowCount: data.length };
    return { ...beside, data, pagination };
  };

const COUNT = 130;
const LONG: Record<string, ScriptedReply> = {
  "reasons.list": () =>
    createMany(COUNT, (index) => ({ id: `r-${index}`, code: `R${index}`, description: WORDS })),
  "disputes.get": () => dispute(1, { disputeId: "d-1" }),
  "dispute_notes.list": servePages(createMany(COUNT, (index) => createNote(index, WORDS))),
  "dispute_attachments.list": () =>
    createMany(COUNT, (index) => createDisputeFile(index, { fileName: `${WORDS}.txt` })),
  "accounts.get": () => ({ ...ACCOUNT, notes: createMany(COUNT, accountNote) }),
  "documents.get": () => ({
    ...INVOICE,
    line_items: createMany(COUNT, (index) => ({ line_number: index, description: WORDS })),
  }),
  "document_attachments.list": () => ({
    document_number: "INV/1",
    attachments: createMany(COUNT, (index) => ({ ...attachment(index), fileName: WORDS })),
  }),
  "export_runs.status": servePart(createMany(COUNT, run), { schedule }),
  "export_runs.data": servePart(
    createMany(COUNT, (index) => ({ id: `row-${index}`, payerName: WORDS })),
    { runId: "run-1", scheduleId: "s-1", status: "completed" },
  ),
  "credit_applications.list": ({ page, pageSize }) => {
    const from = (Number(page) - 1) * Number(pageSize);
    const rows = createMany(COUNT, (index) => application(`app-${index}`));
    return {
      applications: rows.slice(from, from + Number(pageSize)),
      applicationStatusSummary: [],
    };
  },
  "credit_applications.get": () =>
    CreditApplicationDetail.parse(
      application("app-1", {
        applicationForm: form(
          formType("External Form", [section("s", createMany(COUNT, question))]),
        ),
      }),
    ),
};

/** Reads the JSON of a page of a resource. */
type ReadPage = (uri: string, cursor?: string) => Promise<Record<string, unknown>>;

const byAddress =
  ({ client }: Host): ReadPage =>
  async (uri, cursor) => {
    const address = cursor === undefined ? uri : `${uri}?cursor=${cursor}`;
    const { contents } = await client.readResource({ uri: address });
    const [{ text } = { text: "" }] = contents as { text: string }[];
    expect(estimateTokens(text)).toBeLessThanOrEqual(TOKENS);
    return JSON.parse(text) as Record<string, unknown>;
  };

const byTool =
  (host: Host): ReadPage =>
  async (uri, cursor) => {
    const result = await host.call(
      "read_resource",
      cursor === undefined ? { uri } : { uri, cursor },
    );
    expect(estimateTokens(readText(result))).toBeLessThanOrEqual(TOKENS);
    return (result.structuredContent as { content: Record<string, unknown> }).content;
  };

type Part = { items: object[]; total: number | null; truncated: boolean; nextCursor?: string };

/** Returns the names of all the records of one list, page by page. */
const readNames = async (read: ReadPage, uri: string, part: string): Promise<unknown[]> => {
  const names: unknown[] = [];
  let cursor: string | undefined;
  let pages = 0;
  do {
    const page = await read(uri, cursor);
    const found = page[part];
    const list = (Array.isArray(found) ? { ...page, items: found } : found) as Part;
    expect(list.truncated).toBe(list.nextCursor !== undefined);
    names.push(
      ...list.items.map((item) =>
        "section" in item && "question" in item ? item.question : Object.values(item)[0],
      ),
    );
    cursor = list.nextCursor;
    pages += 1;
  } while (cursor !== undefined && pages < 2 * COUNT);
  expect(pages).toBeGreaterThan(1);
  return names;
};

const LISTS: [uri: string, part: string, prefix: string][] = [
  ["receivables://dispute-configuration/reasons", "reasons", "r-"],
  ["receivables://disputes/d-1", "notes", "note-"],
  ["receivables://disputes/d-1", "attachments", "file-"],
  ["receivables://accounts/ACC-1", "notes", "N-"],
  ["receivables://documents/INV%2F1", "line_items", ""],
  ["receivables://documents/INV%2F1", "attachments", "att-"],
  ["receivables://export-runs/s-1", "runs", "run-"],
  ["receivables://export-runs/s-1/run-1", "rows", "row-"],
  ["receivables://credit-applications", "applications", "app-"],
];

verifies("WK-06a", "WK-01a");
describe.each([
  ["resources/read with the cursor in the address", byAddress],
  ["read_resource with its cursor", byTool],
])("%s", (_name, readingOf) => {
  it.each(LISTS)("gives every record of %s: %s", async (uri, part, prefix) => {
    const { host } = await connectScripted(LONG, { settings: { answerTokens: TOKENS } });
    const names = await readNames(readingOf(host), uri, part);
    expect(names.map(String)).toEqual(createMany(COUNT, (index) => `${prefix}${index}`));
    await host.close();
  });

  it("gives every answer of a long application", async () => {
    const { host } = await connectScripted(LONG, { settings: { answerTokens: TOKENS } });
    const uri = "receivables://credit-applications/app-1";
    const names = await readNames(readingOf(host), uri, "questions");
    expect(names).toEqual(createMany(COUNT, (index) => question(index).displayName));
    await host.close();
  });
});

const PAGES = createMany(40, (index) => `Page ${index}: ${WORDS.repeat(3).trim()}`);
const TEXT = "receivables://disputes/d-1/attachments/file-1/text";

const openFile = async () => {
  const { transfers } = createFileStore(await pdfWithPages(PAGES));
  const replies = { "dispute_attachments.get": scannedAfter(1, { fileName: "claim.pdf" }) };
  return connectScripted(replies, { transfers, settings: { answerTokens: TOKENS } });
};

/** Removes the marks of pages, which are repeated where a page is cut. */
const wordsOf = (text: string): string =>
  text
    .replaceAll(/\[(?:page|read on)[^\]]*\]/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim();

verifies("WK-01a");
describe("the text of a long file", () => {
  it("says in a resource where it continues", async () => {
    const { host } = await openFile();
    const texts: string[] = [];
    let uri: string | undefined = TEXT;
    while (uri !== undefined && texts.length < 40) {
      const { contents } = await host.client.readResource({ uri });
      const [{ text } = { text: "" }] = contents as { text: string }[];
      expect(estimateTokens(text)).toBeLessThanOrEqual(TOKENS);
      texts.push(text);
      uri = /\[read on at (\S+)\]$/.exec(text)?.[1];
    }
    expect(texts.length).toBeGreaterThan(2);
    expect(wordsOf(texts.join(" "))).toBe(wordsOf(PAGES.join(" ")));
    await host.close();
  });

  it("has a cursor in read_resource", async () => {
    const { host } = await openFile();
    const texts: string[] = [];
    let cursor: string | undefined;
    do {
      const given = cursor === undefined ? { uri: TEXT } : { uri: TEXT, cursor };
      const result = await host.call("read_resource", given);
      const page = result.structuredContent as { text: string; nextCursor?: string };
      texts.push(page.text);
      cursor = page.nextCursor;
    } while (cursor !== undefined && texts.length < 40);
    expect(wordsOf(texts.join(" "))).toBe(wordsOf(PAGES.join(" ")));
    await host.close();
  });
});

verifies("WK-01a");
it("refuses a cursor of another resource, and one that it did not give", async () => {
  const { host } = await connectScripted(LONG, { settings: { answerTokens: TOKENS } });
  const page = await byTool(host)("receivables://accounts/ACC-1");
  const { nextCursor: cursor = "" } = page["notes"] as Part;
  for (const args of [
    { uri: "receivables://accounts/ACC-2", cursor },
    { uri: "receivables://disputes/d-1", cursor },
    { uri: "receivables://accounts/ACC-1", cursor: cursor.replace("notes.", "lines.") },
    { uri: "receivables://accounts/ACC-1", cursor: "notes.AAAA" },
    { uri: "receivables://accounts/ACC-1?cursor=x" },
  ]) {
    expect(readProblem(await host.call("read_resource", args)).code).toBe("invalid_parameter");
  }
  await expect(
    host.client.readResource({ uri: "receivables://accounts/ACC-1?cursor=x" }),
  ).rejects.toThrow("invalid_parameter");
  await host.close();
});
