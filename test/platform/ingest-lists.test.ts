import { beforeAll, describe, expect, it } from "vitest";
import { extensions } from "../../src/contract/index.ts";
import { createDice } from "../support/dice.ts";
import { accountAt, documentAt, INGEST, ingestTenant, useIngestTenant } from "../support/ingest.ts";
import { importRecords } from "../support/importing.ts";
import { ndjson } from "../support/payment-rows.ts";
import { onEveryStore, type TestPlatform, useExportCaller } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

type Fields = Record<string, unknown>;

const ACCOUNTS = `${INGEST}/accounts`;
const DOCUMENTS = `${INGEST}/documents`;
const WORDS = ["Acme", "ÅNGSTRÖM ab", 'Quo"te', "100%_Pure", "Nord*west", "b\nreak", "ßtraße"];

const search = (path: string, query: Fields): string => {
  const text = Object.entries(query).map(
    ([name, value]) => `${name}=${encodeURIComponent(String(value))}`,
  );
  return `${path}?${text.join("&")}`;
};

const fold = (text: string): string =>
  text.normalize("NFC").toLowerCase().replaceAll("ς", "σ").replaceAll("\n", " ");

const hasPart = (values: readonly unknown[], part: string): boolean =>
  values
    .filter((value) => value !== undefined)
    .map((value) => fold(String(value)))
    .some((value) =>
      [...fold(part)].length < 3 ? value.startsWith(fold(part)) : value.includes(fold(part)),
    );

const createAccounts = (count: number): Fields[] => {
  const dice = createDice(11);
  return Array.from({ length: count }, (_, number) => ({
    account_number: `${dice.pick(["A", "b"])}-${String(number).padStart(3, "0")}`,
    name: `${dice.pick(WORDS)} ${dice.whole(0, 20)}`,
    currency: "EUR",
    ...(dice.chance(0.3) ? { display_reference: `Ref/${dice.whole(0, 99)}` } : {}),
    ...(dice.chance(0.5) ? { account_group: dice.pick(["north", "south"]) } : {}),
  }));
};

const createDocuments = (count: number): Fields[] => {
  const dice = createDice(13);
  const day = () => `2026-0${dice.whole(1, 4)}-1${dice.whole(0, 9)}`;
  return Array.from({ length: count }, (_, number) => ({
    document_number: `INV-${String(number).padStart(3, "0")}`,
    account_number: dice.pick(["A-1", "A-2", "A-3"]),
    document_type: dice.pick(["invoice", "other"]),
    invoice_date: day(),
    due_date: dice.chance(0.2) ? `${day()}T23:30:00-05:00` : day(),
    currency: dice.pick(["EUR", "USD"]),
    denomination: dice.pick([0, 10.5, 99_999.99, 123_456_789_012.5]),
    ...(dice.chance(0.5) ? { po_number: `PO ${dice.whole(0, 30)}` } : {}),
  }));
};

// Imports take the written day of a timestamp.
const dayOf = (date: unknown): string => String(date).slice(0, 10);

const importAll = async (
  at: TestPlatform,
  kind: "accounts" | "documents",
  rows: readonly Fields[],
): Promise<void> => {
  const { rejects } = await importRecords(at, "lists", kind, ndjson(rows), { format: "ndjson" });
  if (rejects.length > 0) throw new Error(JSON.stringify(rejects[0]));
};

onEveryStore("lists of accounts and documents", (at) => {
  const call = useIngestTenant(at, "lists");
  const reader = useExportCaller(at, "lists", ["ingest:read"]);
  const accounts = createAccounts(90);
  const documents = createDocuments(90);

  const read = async (path: string, query: Fields = {}) => {
    const reply = await reader("GET", search(path, query));
    expect(reply.status, `${reply.text} ${at().logged.at(-1)}`).toBe(200);
    return reply.body;
  };

  /** Follows the cursors to the end. */
  const readAll = async (path: string, query: Fields = {}): Promise<Fields[]> => {
    const found: Fields[] = [];
    let cursor: string | null = null;
    do {
      const page = await read(path, { ...query, ...(cursor === null ? {} : { cursor }) });
      found.push(...page.data);
      expect(page.pagination.rowCount).toBe(page.data.length);
      expect(page.pagination.hasMore).toBe(page.pagination.cursor !== null);
      cursor = page.pagination.cursor;
    } while (cursor !== null);
    return found;
  };

  const numbers = (rows: readonly Fields[]) =>
    rows.map(({ accountNumber, documentNumber }) => accountNumber ?? documentNumber);

  beforeAll(async () => {
    const other = await ingestTenant(at(), "other");
    await other("POST", accountAt("A-000"), {
      body: { name: "Acme of another tenant", currency: "EUR" },
    });
    await importAll(at(), "accounts", accounts);
    await importAll(at(), "documents", documents);
  });

  verifies("IN-70");
  it("lists accounts without notes by number, in pages that follow each other", async () => {
    const all = await readAll(ACCOUNTS, { limit: 7 });
    const expected = accounts.map(({ account_number }) => String(account_number)).toSorted();
    expect(numbers(all)).toEqual(expected);
    const one = await reader("GET", accountAt(expected[0] ?? ""));
    const { notes: _notes, ...account } = one.body;
    expect(all[0]).toEqual(account);
    expect((await read(ACCOUNTS)).data).toHaveLength(90);
  });

  verifies("IN-70", "IN-74");
  it.each([
    "acm",
    "ÅNGS",
    "ång",
    "öm ab 1",
    'o"t',
    "100%",
    "%_p",
    "d*we",
    "b r",
    "traße",
    "ref/1",
    "-00",
    "a",
    "b-",
    "ac",
    "1",
    "ß",
    "zzz",
  ])("finds accounts by %s in name, number or display reference", async (part) => {
    const matching = accounts.filter(({ account_number, name, display_reference }) =>
      hasPart([account_number, name, display_reference], part),
    );
    const found = await readAll(ACCOUNTS, { search: part, limit: 10 });
    expect(numbers(found)).toEqual(matching.map((one) => String(one["account_number"])).toSorted());
  });

  verifies("IN-70");
  it("filters by group and parent, and finds an account under its new name only", async () => {
    const north = accounts.filter(({ account_group }) => account_group === "north");
    expect(await readAll(ACCOUNTS, { account_group: "north" })).toHaveLength(north.length);
    await call("PUT", accountAt("Z-child"), {
      body: {
        name: "First name",
        currency: "EUR",
        parent_account_number: "A-1",
        is_parent_account: false,
      },
    });
    expect(numbers(await readAll(ACCOUNTS, { parent_account_number: "A-1" }))).toEqual(["Z-child"]);
    await call("PATCH", accountAt("Z-child"), { body: { name: "Second naming" } });
    expect(await readAll(ACCOUNTS, { search: "first name" })).toEqual([]);
    expect(numbers(await readAll(ACCOUNTS, { search: "COND NAM" }))).toEqual(["Z-child"]);
  });

  verifies("IN-70", "IN-71");
  it("refuses a cursor of another query, and unknown parameters", async () => {
    const { cursor } = (await read(ACCOUNTS, { limit: 1 })).pagination;
    for (const query of [{ cursor, search: "acm" }, { cursor: "made-up" }, { serch: "acm" }]) {
      expect((await reader("GET", search(ACCOUNTS, query))).status).toBe(422);
    }
    expect((await reader("GET", search(DOCUMENTS, { cursor }))).status).toBe(422);
    expect((await reader("GET", search(DOCUMENTS, { due_from: "May" }))).status).toBe(422);
  });

  verifies("IN-71");
  describe("documents", () => {
    const keyOf = (one: Fields, sort: string): string => {
      const name = sort.replace("-", "");
      const number = String(one["document_number"]);
      return name === "document_number" ? number : `${dayOf(one[name])} ${number}`;
    };

    it.each(["document_number", "due_date", "-due_date", "invoice_date", "-invoice_date"])(
      "are sorted by %s",
      async (sort) => {
        const sorted = documents.map((one) => keyOf(one, sort)).toSorted();
        const expected = sort.startsWith("-") ? sorted.toReversed() : sorted;
        const found = await readAll(DOCUMENTS, { sort, limit: 11 });
        const numberIn = (key: string) => key.split(" ").at(-1);
        expect(numbers(found)).toEqual(expected.map(numberIn));
        const one = await reader("GET", documentAt(String(found[0]?.["documentNumber"])));
        expect(found[0]).toEqual(one.body);
      },
    );

    it.each<[Fields, (one: Fields) => boolean]>([
      [{ account_number: "A-2" }, (one) => one["account_number"] === "A-2"],
      [{ status: "closed" }, (one) => one["denomination"] === 0],
      [{ status: "open", sort: "due_date" }, (one) => one["denomination"] !== 0],
      [{ document_type: "other" }, (one) => one["document_type"] === "other"],
      [
        { due_from: "2026-02-15", due_to: "2026-03-12" },
        (one) => dayOf(one["due_date"]) >= "2026-02-15" && dayOf(one["due_date"]) <= "2026-03-12",
      ],
      [{ invoice_from: "2026-03-11" }, (one) => dayOf(one["invoice_date"]) >= "2026-03-11"],
      [{ invoice_to: "2026-01-31" }, (one) => dayOf(one["invoice_date"]) <= "2026-01-31"],
      [{ search: "nv-04" }, (one) => hasPart([one["document_number"]], "nv-04")],
      [{ search: "po 1" }, (one) => hasPart([one["document_number"], one["po_number"]], "po 1")],
    ])("are filtered by %j", async (query, keeps) => {
      const expected = documents.filter(keeps).map((one) => String(one["document_number"]));
      expect(numbers(await readAll(DOCUMENTS, { ...query, limit: 9 })).toSorted()).toEqual(
        expected.toSorted(),
      );
    });
  });

  verifies("IN-70", "IN-71", "IN-72", "IN-73");
  it("are announced by /health with the other extensions", async () => {
    const { body } = await at().call("GET", "/health");
    expect(body.extensions).toEqual(extensions);
    for (const name of [
      "accounts.list",
      "documents.list",
      "disputes.list.filters",
      "payments.summary",
      "disputes.summary",
      "documents.summary",
    ]) {
      expect(body.extensions).toContain(name);
    }
  });
});
