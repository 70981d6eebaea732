import { beforeAll, describe, expect, it } from "vitest";
import { contract } from "../../src/contract/index.ts";
import { openCalendar } from "../../src/contract/insights/calendar.ts";
import { changesSince } from "../../src/insights/changes-since.ts";
import { setTenant } from "../../src/platform/admin/tenants.ts";
import { insertAll } from "../../src/platform/store/engine/bulk-writes.ts";
import { rowsOf } from "../support/audit.ts";
import { createChangesRun, DOCUMENTS, type Happened, type Own } from "../support/changes-run.ts";
import { make } from "../support/configuration.ts";
import { documentAt, DOCUMENT } from "../support/ingest.ts";
import { importDisputes } from "../support/importing.ts";
import { createTestContext, runInsight } from "../support/insights.ts";
import { localDay } from "../support/local-days.ts";
import { load, ndjson } from "../support/payment-rows.ts";
import { seedSchedule } from "../support/schedule-records.ts";
import { DISPUTES, onEveryStore, type Person } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const TENANT = "happened";
const ZONE = "Europe/Berlin";
const MINUTE = 60_000;
const EXTENSIONS = [new Set<string>(), new Set([contract.disputes.changes.id])];

onEveryStore("changes_since", (at) => {
  let admin: Person;
  let names: Map<string, string>;
  let events: readonly Happened[];
  let own: Own[];

  beforeAll(async () => {
    at().clock.set("2026-03-25T09:00:00.000Z");
    admin = await at().tenant(TENANT);
    await setTenant({ store: at().store }, TENANT, [`timeZone=${ZONE}`]);
    const other = await at().person(TENANT, { roles: ["Administrator"] });
    const ingest = await at().exportCaller(TENANT, ["ingest:read", "ingest:write"]);
    await make(admin, "/categories", { code: "PRICE", description: "Price" });
    await make(admin, "/reasons", { categoryCode: "PRICE", code: "WRONG", description: "Wrong" });
    await make(admin, "/departments", { code: "SALES", description: "Sales" });
    for (const firstName of ["Ana", "Bo"]) {
      const person = { firstName, lastName: "Lee", email: `${firstName.toLowerCase()}@x.example` };
      await make(admin, "/assignees", { departmentCode: "SALES", person, active: true });
    }
    await make(admin, "/resolutions", { code: "CREDIT", description: "Credit", isValid: true });
    await at().store.transaction((tx) =>
      tx
        .updateTable("resolutions")
        .set({ apply_when_invoice_closed: 1 })
        .where("tenant_id", "=", TENANT)
        .execute(),
    );
    for (const number of DOCUMENTS) {
      await ingest("POST", documentAt(number), { body: { ...DOCUMENT, denomination: 100 } });
    }
    const run = createChangesRun({ at: at(), people: [admin, other], ingest });
    for (const start of ["2026-03-27T10:00:00.000Z", "2026-10-23T10:00:00.000Z"]) {
      at().clock.set(start);
      for (let step = 0; step < 40; step += 1) await run.act();
    }
    at().clock.advance(MINUTE);
    ({ own } = run);
    events = run.events();
    admin = await at().person(TENANT, { roles: ["Administrator"] });
    const { body } = await admin.call("GET", "/user/v3/tenants/{t}/users");
    names = new Map(
      body.map((user: { userId: string; firstName: string; lastName: string; email: string }) => [
        user.userId,
        `${user.firstName} ${user.lastName}`.trim() || user.email,
      ]),
    );
  }, 60_000);

  const ask = async (
    args: object,
    extensions: ReadonlySet<string> = new Set(),
    person: Person = admin,
    scopes?: readonly string[],
  ) => {
    const calendar = openCalendar(ZONE);
    const context = await createTestContext(at(), TENANT, person, {
      extensions,
      calendar,
      ...(scopes === undefined ? {} : { scopes }),
    });
    return runInsight(changesSince, context, { limit: 200, ...args });
  };

  const codeOf = (id: string | undefined): string | undefined =>
    own.find(({ disputeId }) => disputeId === id)?.disputeCode;

  /** The expected events of a span, counted by kind. */
  const count = (within: readonly Happened[]): Record<string, number> => {
    const counts: Record<string, number> = {};
    for (const { kind } of within) counts[kind] = (counts[kind] ?? 0) + 1;
    return counts;
  };
  const withoutZeros = (counts: object): object =>
    Object.fromEntries(Object.entries(counts).filter(([, number]) => number !== 0));

  verifies("WK-80");
  it("counts a random run of changes by the tenant's days, over both changes of clocks", async () => {
    const days = [...new Set(events.map((event) => localDay(ZONE, event.at)))];
    expect(days).toEqual(expect.arrayContaining(["2026-03-29", "2026-10-25"]));
    const spans: [since: string, until?: string][] = [
      [String(days[0])],
      ["2026-03-29", "2026-03-29"],
      ["2026-10-25", "2026-10-25"],
      ["2026-10-26"],
    ];
    for (const [since, until] of spans) {
      const within = events.filter((event) => {
        const day = localDay(ZONE, event.at);
        return day >= since && (until === undefined || day <= until);
      });
      for (const extensions of EXTENSIONS) {
        const found = await ask({ since, ...(until === undefined ? {} : { until }) }, extensions);
        const counts = withoutZeros(found["counts"] as object);
        expect([since, until, counts]).toEqual([since, until, count(within)]);
        expect([found.truncated, found.itemsTotal]).toEqual([false, within.length]);
      }
    }
    expect(Object.keys(count(events)).toSorted()).toEqual([
      "canceled",
      "changed",
      "closed",
      "deleted",
      "documentClosed",
      "documentReopened",
      "file",
      "note",
      "opened",
      "reassigned",
      "reopened",
    ]);
  });

  it("names each event with its time, dispute and person, as the audit log has it", async () => {
    const since = new Date(events[events.length - 30]?.at ?? 0).toISOString();
    const within = events.filter((event) => event.at >= Date.parse(since));
    const toLine = (one: { kind: string; at: string; disputeCode?: unknown }) =>
      [one.kind, one.at, one.kind.startsWith("document") ? "" : String(one.disputeCode)].join(" ");
    const expected = within.map((event) =>
      toLine({
        kind: event.kind,
        at: new Date(event.at).toISOString(),
        disputeCode: codeOf(event.disputeId),
      }),
    );
    for (const extensions of EXTENSIONS) {
      const { items } = await ask({ since }, extensions);
      const lines = items.map((item) => toLine(item as { kind: string; at: string }));
      expect(lines.toSorted()).toEqual(expected.toSorted());
      for (const event of within.filter(({ by }) => by !== "")) {
        const item = items.find(
          (one) => one["kind"] === event.kind && one["at"] === new Date(event.at).toISOString(),
        );
        expect(item?.["by"]).toBe(names.get(event.by));
      }
    }
    const log = (await rowsOf(at().store.read, TENANT)).filter(
      (row) =>
        row.at >= Date.parse(since) &&
        row.status_code < 300 &&
        own.some(({ disputeId }) => row.metadata.includes(disputeId)),
    );
    const times = (action: string) => log.filter((row) => row.action === action).length;
    const counts = count(within);
    expect([times("dispute.reopened"), times("dispute.canceled")]).toEqual([
      counts["reopened"] ?? 0,
      counts["canceled"] ?? 0,
    ]);
  });

  it("narrows to kinds, an assignee and an account, and tells both assignees", async () => {
    const { items, filter } = await ask({ since: "2026-01-01", kinds: "Reassigned" });
    expect(filter["kinds"]).toEqual(["reassigned"]);
    expect(items.length).toBeGreaterThan(3);
    for (const { kind, detail } of items) {
      expect([kind, detail]).toEqual([
        "reassigned",
        expect.stringMatching(/^from (no one|Ana Lee|Bo Lee) to (Ana|Bo) Lee$/),
      ]);
    }
    const ana = await ask({ since: "2026-01-01", assignee: "ana@x.example", kinds: "opened" });
    const hers = own.filter(({ assignee }) => assignee === "ana@x.example");
    expect(ana.items.map((item) => item["disputeCode"]).toSorted()).toEqual(
      hers.map(({ disputeCode }) => disputeCode).toSorted(),
    );
    const nothing = await ask({ since: "2026-01-01", accountName: "someone else" });
    expect([nothing.rowCount, nothing.items]).toEqual([0, []]);
  });

  it("lists payments on disputed documents by their days", async () => {
    const one = own.find(({ status }) => status === 0);
    const back = { applicationStatus: "reversed" };
    const paid = { currencyCode: "USD", accountNumber: "A-1", documentNumber: one?.documentNumber };
    await load(at(), TENANT, "cashapp", [
      {
        id: "1",
        paymentId: "P-1",
        paymentDate: "2026-10-25",
        paymentAmount: 70,
        appliedAmount: 70,
        deductionAmount: 5,
        ...paid,
      },
      {
        id: "2",
        paymentId: "P-2",
        paymentDate: "2026-10-24",
        paymentAmount: 70,
        appliedAmount: 70,
        ...paid,
      },
      {
        id: "3",
        paymentId: "P-3",
        paymentDate: "2026-10-26",
        paymentAmount: 9,
        appliedAmount: 9,
        ...paid,
        documentNumber: "INV-404",
      },
      // A payment that came back on the next day, a suggestion, and a return within one payment.
      ...[
        { paymentId: "P-4", paymentDate: "2026-10-25", appliedAmount: 40 },
        { paymentId: "P-5", paymentDate: "2026-10-26", appliedAmount: -40, ...back },
        { paymentId: "P-6", paymentDate: "2026-10-26", appliedAmount: 8, matchMethod: "suggested" },
        { paymentId: "P-7", paymentDate: "2026-10-26", appliedAmount: 6 },
        { paymentId: "P-7", paymentDate: "2026-10-26", appliedAmount: -6, ...back },
        { paymentId: "P-8", paymentDate: "2026-10-26", appliedAmount: 3, ...back },
      ].map((row, place) => ({ id: `back-${place}`, ...row, ...paid })),
    ]);
    const found = await ask({ since: "2026-10-25T12:00:00+01:00", kinds: ["payment"] });
    expect(
      new Set(found.items.map(({ at: day, amount, detail }) => [day, amount, detail])),
    ).toEqual(
      new Set([
        ["2026-10-25", 70, "deduction 5"],
        ["2026-10-25", 40, undefined],
        ["2026-10-26", -40, "came back"],
      ]),
    );
    expect(found.notes.join(" ")).toContain("Payments have a day and no time");
  });

  it("names what cannot be seen without the audit log, and counts imported changes by their dates", async () => {
    at().clock.advance(MINUTE);
    const rows = [
      {
        accountNumber: "A-9",
        documentNumber: "INV-9",
        amount: 4,
        currencyCode: "USD",
        categoryCode: "PRICE",
        reasonCode: "WRONG",
        createDate: "2026-10-20T00:00:00.000Z",
      },
    ];
    const before = await ask({ since: "2026-10-19" });
    await importDisputes(at(), TENANT, ndjson(rows), { format: "ndjson" });
    const since = "2026-10-19";
    const blind = await ask({ since }, new Set(), admin, ["export:read"]);
    const counts = blind["counts"] as Record<string, number | null>;
    expect([counts["note"], counts["reopened"], counts["documentClosed"]]).toEqual([
      null,
      null,
      null,
    ]);
    expect(blind.notes.join(" ")).toContain('"audit:read" is missing');
    const whole = await ask({ since });
    expect((whole["counts"] as { opened: number }).opened).toBe(
      (before["counts"] as { opened: number }).opened + 1,
    );
    const seen = await ask({ since }, EXTENSIONS[1], admin, ["export:read"]);
    expect({ ...(seen["counts"] as object), payment: null }).toMatchObject({
      ...(whole["counts"] as object),
      payment: null,
      creditDecided: expect.anything(),
      exportFailed: expect.anything(),
    });
  });

  it("sees notes that no request made where the platform tells changes", async () => {
    at().clock.advance(MINUTE);
    const moment = at().clock();
    const since = new Date(moment).toISOString();
    await at().store.transaction((tx) =>
      tx
        .insertInto("dispute_notes")
        .values({
          tenant_id: TENANT,
          id: "imported-note",
          dispute_id: own[0]?.disputeId ?? "",
          content: "From the old system.",
          visibility: "Internal",
          created_by: "import",
          created_at: moment,
          updated_by: "import",
          updated_at: moment,
          version: 1,
        })
        .execute(),
    );
    const [log, records] = [await ask({ since }), await ask({ since }, EXTENSIONS[1])];
    expect([log.itemsTotal, log.notes.join(" ")]).toEqual([
      0,
      expect.stringContaining("notes and files of imports are not seen"),
    ]);
    expect(records.items).toEqual([
      expect.objectContaining({ kind: "note", by: "import", disputeCode: own[0]?.disputeCode }),
    ]);
  });

  verifies("WK-80");
  it("finds failed exports beyond the newest runs that the platform lists at once", async () => {
    const { store, clock } = at();
    const mark = "failing";
    const { schedule } = await seedSchedule(store, TENANT, { mark, text: "Every minute" });
    const start = clock();
    const failed = new Set([3, 120, 240]);
    const runs = Array.from({ length: 250 }, (_, place) => ({
      tenant_id: TENANT,
      id: `failing-${place}`,
      schedule_id: schedule.scheduleId,
      slot_at: start - place * MINUTE,
      status: failed.has(place) ? ("failed" as const) : ("completed" as const),
      created_at: start - place * MINUTE,
      started_at: start - place * MINUTE,
      completed_at: start - place * MINUTE,
      row_count: 0,
      error_stage: null,
      error_detail: failed.has(place) ? `fault ${place}` : null,
      purged_at: null,
    }));
    await store.transaction((tx) => insertAll(tx, "export_runs", runs));
    const since = new Date(start - 200 * MINUTE).toISOString();
    const { items, counts, notes } = await ask({ since, kinds: "exportFailed" });
    expect(counts).toEqual({ exportFailed: 2 });
    expect(items.map(({ account, detail }) => [account, detail])).toEqual([
      ["Every minute", "fault 3"],
      ["Every minute", "fault 120"],
    ]);
    expect(notes).toEqual([]);
  });

  it("shows another tenant nothing", async () => {
    const stranger = await at().tenant("happened-other");
    const { status, body } = await stranger.call("POST", `${DISPUTES}/changes`, {
      body: { since: "2020-01-01T00:00:00Z", until: "2030-01-01T00:00:00Z" },
    });
    expect([status, body.data]).toEqual([200, []]);
  });

  it("pages changes without a gap, and refuses the cursor of another query", async () => {
    const span = { since: "2026-03-01T00:00:00Z", until: "2026-12-01T00:00:00Z" };
    const list = (body: object) => admin.call("POST", `${DISPUTES}/changes`, { body });
    const all = (await list(span)).body.data;
    const read: unknown[] = [];
    let cursor: string | null = null;
    do {
      const more: object = cursor === null ? {} : { cursor };
      const { body } = await list({ ...span, limit: 37, ...more });
      read.push(...body.data);
      ({ cursor } = body.pagination);
    } while (cursor !== null);
    expect(read).toEqual(all);
    const first = (await list({ ...span, limit: 2 })).body.pagination.cursor;
    const refused = await list({ ...span, since: "2026-03-02T00:00:00Z", cursor: first });
    expect([refused.status, refused.body.errors[0]?.field]).toEqual([400, "cursor"]);
  });
});

describe("changes_since", () => {
  it("understands kinds in any spelling, and refuses others with the known ones", () => {
    const { input } = changesSince;
    expect(input.parse({ since: "2026-01-01", kinds: "credit_decided" })).toMatchObject({
      kinds: ["creditDecided"],
    });
    const { error } = input.safeParse({ since: "2026-01-01", kinds: ["opend"] });
    expect(error?.issues[0]?.message).toContain("similar: opened");
  });
});
