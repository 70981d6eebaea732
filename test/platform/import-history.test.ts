import { beforeAll, expect, it } from "vitest";
import { DAY, formatTimestamp, MINUTE } from "../../src/kit/clock.ts";
import { randomId } from "../../src/kit/ids.ts";
import { createRecordChange } from "../../src/platform/admin/changes.ts";
import { undoImport } from "../../src/platform/admin/imports.ts";
import { deleteUser } from "../../src/platform/admin/people.ts";
import { createUser } from "../../src/platform/admin/users.ts";
import type { Kind } from "../../src/platform/import/kinds.ts";
import { changeRows } from "../../src/platform/store/engine/rows.ts";
import { rowsOf } from "../support/audit.ts";
import { findDispute, importText, toCsv } from "../support/importing.ts";
import { DISPUTES, onEveryStore, type Person, useTenant } from "../support/platform.ts";
import { findRow, findRows } from "../support/rows.ts";
import { verifies } from "../support/verifies.ts";

verifies("WK-48");
onEveryStore("the history that a company brings along", (at) => {
  const TENANT = "history";
  const admin = useTenant(at, TENANT);
  const invited: string[] = [];
  const needs = () => {
    const { store, clock } = at();
    const record = createRecordChange({ store, clock, newId: randomId, operator: "tester" });
    return { store, clock, newId: randomId, record };
  };
  const bring = (kind: Kind, text: string, how: object = {}) =>
    importText(at(), TENANT, kind, text, {
      record: needs().record,
      invite: async (emails) => void invited.push(...emails),
      ...how,
    });
  const undo = ({ report }: { report: { importId: string } }) =>
    undoImport(needs(), report.importId);
  const notesOf = async (disputeId: string) =>
    (await admin.call("GET", `${DISPUTES}/${disputeId}/disputenotes`)).body;
  const usersNow = async () =>
    (await admin.call("GET", "/user/v3/tenants/{t}/users")).body as Record<string, never>[];

  let claim: Awaited<ReturnType<typeof findDispute>>;
  const row = (documentNumber: string, more: object = {}) => ({
    claimNo: `K-${documentNumber}`,
    accountNumber: "C1",
    documentNumber,
    amount: 10,
    categoryCode: "DED",
    reasonCode: "SHORT",
    createDate: "2025-01-05",
    ...more,
  });
  const DISPUTE_MAP = {
    ...Object.fromEntries(
      ["accountNumber", "documentNumber", "amount", "categoryCode", "reasonCode"]
        .concat(["createDate", "updateDate", "status", "closedDate"])
        .map((name) => [name, name]),
    ),
    sourceKey: ["claimNo"],
  };
  const bringDisputes = (...rows: Record<string, string | number>[]) =>
    bring("disputes", toCsv(...rows), { map: DISPUTE_MAP, createConfiguration: true });

  beforeAll(async () => {
    await bring("accounts", "account_number,name,currency\nC1,Acme,USD\n");
    const dates = { updateDate: "2025-02-01T10:00:00+01:00", status: "Open", closedDate: "" };
    await bringDisputes(row("D1", dates), row("D2", dates), {
      ...row("D2", dates),
      claimNo: "K-D2-2",
    });
    claim = await findDispute(admin, "D1");
  });

  it("keeps the updateDate of a dispute, and changes it with the file", async () => {
    expect(claim).toMatchObject({
      createDate: "2025-01-05T00:00:00.000Z",
      updateDate: "2025-02-01T09:00:00.000Z",
    });
    const dates = { updateDate: "2025-02-01T10:00:00+01:00", status: "Open", closedDate: "" };
    const again = await bringDisputes(row("D1", dates));
    expect(again.counts).toMatchObject({ unchanged: 1, written: 0 });
    const later = await bringDisputes(row("D1", { ...dates, updateDate: "2025-03-01" }));
    expect(later.counts).toMatchObject({ written: 1 });
    expect((await findDispute(admin, "D1")).updateDate).toBe("2025-03-01T00:00:00.000Z");
    const wrong = await bringDisputes(
      row("D8", { ...dates, updateDate: "2099-01-01" }),
      row("D9", { ...dates, updateDate: "2024-01-01" }),
    );
    expect(wrong.rejects.map(({ message }) => message)).toEqual([
      'must not be in the future (column "updateDate", value "2099-01-01")',
      'must not be before createDate (column "updateDate", value "2024-01-01")',
    ]);
    await admin.call("PUT", `${DISPUTES}/${claim.disputeId}`, { body: { poNumber: "P" } });
    const mine = (await findDispute(admin, "D1")).updateDate;
    await bringDisputes(row("D1", { ...dates, updateDate: "2025-04-01" }));
    expect((await findDispute(admin, "D1")).updateDate).toBe(mine);
  });

  it("records no reopening where a later row of one file replaces an earlier one", async () => {
    const closed = { updateDate: "2025-02-01", status: "Closed", closedDate: "2025-02-01" };
    const open = { updateDate: "2025-02-02", status: "Open", closedDate: "" };
    const fillers = Array.from({ length: 500 }, (_, place) => row(`F${place}`, open));
    const reopened = async () =>
      (await rowsOf(at().store.read, TENANT)).filter(({ action }) => action === "dispute.reopened");
    const keyless = { ...DISPUTE_MAP, sourceKey: undefined };
    await bring("disputes", toCsv(row("R1", closed)), { map: keyless });
    await bring("disputes", toCsv(row("R2", closed), ...fillers, row("R2", open)), {
      map: keyless,
    });
    expect(await reopened()).toHaveLength(0);
    await bring("disputes", toCsv(row("R1", open)), { map: keyless });
    expect(await reopened()).toHaveLength(1);
  });

  it("adds notes with their authors and dates, once, and an undo takes them back", async () => {
    const author = { createUser: admin.email.toUpperCase(), createDate: "2025-01-06" };
    const file = toCsv(
      { disputeId: claim.disputeId, content: "called", visibility: "All", ...author },
      { disputeCode: claim.disputeCode, content: "called", createUser: "Jane Roe (old CRM)" },
      { documentNumber: "D1", content: "same", createDate: "2025-01-07T08:00:00Z" },
      { documentNumber: "D1", content: "same", createDate: "2025-01-07T08:00:00Z" },
    );
    const before = await rowsOf(at().store.read, TENANT);
    const dry = await bring("notes", file, { dryRun: true });
    expect([dry.counts.written, await notesOf(claim.disputeId)]).toEqual([4, []]);
    expect(await rowsOf(at().store.read, TENANT)).toEqual(before);
    const first = await bring("notes", file);
    expect([first.rejects, first.counts.written]).toEqual([[], 4]);
    const now = formatTimestamp(at().clock());
    const shown = await notesOf(claim.disputeId);
    expect(shown).toMatchObject([
      { content: "called", createUser: "Jane Roe (old CRM)", createDate: now },
      { content: "same", createUser: "import", updateDate: "2025-01-07T08:00:00.000Z" },
      { content: "same", createUser: "import", createDate: "2025-01-07T08:00:00.000Z" },
      {
        content: "called",
        visibility: "All",
        createUser: admin.userId,
        createDate: "2025-01-06T00:00:00.000Z",
        updateUser: admin.userId,
        updateDate: "2025-01-06T00:00:00.000Z",
      },
    ]);
    at().clock.advance(MINUTE);
    const again = await bring("notes", file);
    expect(again.counts).toMatchObject({ written: 0, unchanged: 4, rejected: 0 });
    const entries = (await rowsOf(at().store.read, TENANT)).slice(before.length);
    expect(entries.map(({ action }) => action)).toEqual(["import.notes", "import.notes"]);
    expect(JSON.parse(entries[0]?.metadata ?? "")).toMatchObject({ actor: "tester", written: 4 });
    expect(await undo(first)).toMatchObject({ kind: "notes", undone: 4, kept: 0 });
    expect(await notesOf(claim.disputeId)).toEqual([]);
  });

  it("finds a note's dispute by the key of the disputes' file, and keeps the note's own id", async () => {
    const map = {
      ...Object.fromEntries(["disputeNoteId", "content"].map((name) => [name, name])),
      sourceKey: ["claimNo"],
    };
    const file = (content: string) => toCsv({ disputeNoteId: "N-1", claimNo: "K-D1", content });
    const first = await bring("notes", file("first"), { map });
    expect(first.rejects).toEqual([]);
    expect(await notesOf(claim.disputeId)).toMatchObject([{ disputeNoteId: "N-1" }]);
    const other = await bring("notes", file("other"), { map });
    expect(other.rejects).toMatchObject([{ field: "disputeNoteId", code: "conflict" }]);
    const url = `${DISPUTES}/${claim.disputeId}/disputenotes/N-1`;
    await admin.call("PUT", url, { body: { content: "edited" } });
    const again = await bring("notes", file("first"), { map });
    expect(again.counts).toMatchObject({ unchanged: 1 });
    expect((await notesOf(claim.disputeId))[0].content).toBe("edited");
    expect(await undo(first)).toMatchObject({
      undone: 0,
      reasons: [{ reason: "it has changed since" }],
    });
  });

  it.each([
    [{ content: "x" }, "disputeId", "required", /disputeCode, documentNumber/],
    [{ disputeCode: "D-NO-1", content: "x" }, "disputeCode", "unknown_reference", /value "D-NO-1"/],
    [{ documentNumber: "D2", content: "x" }, "documentNumber", "ambiguous", /D-D2-01, D-D2-02/],
    [{ documentNumber: "D1", content: "" }, "content", "required", /is required/],
    [
      { documentNumber: "D1", content: "x", visibility: "Public" },
      "visibility",
      "enum",
      /Internal, All/,
    ],
    [
      { documentNumber: "D1", content: "x", createDate: "1/2/2025" },
      "createDate",
      "format",
      /YYYY-MM-DD/,
    ],
    [
      { documentNumber: "D1", content: "x", createDate: "2099-01-01" },
      "createDate",
      "range",
      /future/,
    ],
  ])("refuses the note %j", async (note, field, code, message) => {
    const { rejects } = await bring("notes", toCsv(note));
    expect(rejects).toMatchObject([{ line: 2, field, code }]);
    expect(rejects[0]?.message).toMatch(message);
  });

  it("adds notes to accounts with their authors and dates", async () => {
    const file = toCsv({
      account_number: "C1",
      reference: "CRM-1",
      body: "pays on the 15th",
      note_type: "promise",
      created_by: "jane@former.example",
      created_at: "2024-05-06",
    });
    const first = await bring("account-notes", file);
    expect(first.rejects).toEqual([]);
    expect((await bring("account-notes", file)).counts).toMatchObject({ unchanged: 1 });
    const ingest = await at().exportCaller(TENANT, ["ingest:read", "ingest:write"]);
    const path = "/api/v1/ingest/accounts/C1";
    const note = {
      created_by: "jane@former.example",
      created_at: "2024-05-06T00:00:00.000Z",
      effective_date: "2024-05-06T00:00:00.000Z",
    };
    expect((await ingest("GET", `${path}/notes/CRM-1?author=true`)).body).toMatchObject(note);
    expect((await ingest("GET", `${path}?author=true`)).body.notes).toMatchObject([
      { createdBy: note.created_by, createdAt: note.created_at },
    ]);
    const wrong = toCsv(
      { account_number: "C9", reference: "CRM-2", body: "x" },
      { account_number: "C1", reference: "CRM-1", body: "another" },
    );
    expect((await bring("account-notes", wrong)).rejects).toMatchObject([
      { field: "account_number", code: "unknown_reference" },
      { field: "reference", code: "note_reference_already_exists" },
    ]);
    expect(await undo(first)).toMatchObject({ undone: 1, kept: 0 });
  });

  const person = (email: string, more: object = {}) => ({
    email,
    firstName: "Jane",
    lastName: "Roe",
    roles: "Dispute Analyst; Viewer",
    ...more,
  });

  it("adds users without a password, and names those who need a link", async () => {
    const file = toCsv(
      person("jane@acme.example", {
        createdDate: "2020-01-02",
        timeZone: "europe/berlin",
        "userTenantProfile.title": "Lead",
      }),
      person("JANE@acme.example", {
        createdDate: "2020-01-02",
        timeZone: "europe/berlin",
        "userTenantProfile.title": "Lead",
      }),
    );
    await bring("users", file, { dryRun: true });
    expect(invited).toEqual([]);
    const first = await bring("users", file);
    expect([first.rejects, first.counts.written, first.counts.unchanged]).toEqual([[], 1, 1]);
    expect(invited).toEqual(["jane@acme.example"]);
    const jane = (await usersNow()).find(({ email }) => email === "jane@acme.example");
    expect(jane).toMatchObject({
      status: "Active",
      timeZone: "Europe/Berlin",
      createdDate: "2020-01-02T00:00:00.000Z",
      lastLogin: null,
      userTenantProfile: { title: "Lead", addedAt: "2020-01-02T00:00:00.000Z" },
    });
    const names = (jane as unknown as { userTenantProfile: { roles: { roleName: string }[] } })
      .userTenantProfile.roles;
    expect(names.map(({ roleName }) => roleName).toSorted()).toEqual(["Dispute Analyst", "Viewer"]);
    expect((await bring("users", file)).counts).toMatchObject({ written: 0, unchanged: 2 });
    expect(invited).toHaveLength(1);
    // The lists of users of another installation can be imported as they are.
    const listed = await bring("users", JSON.stringify(jane), { format: "ndjson" });
    expect(listed.counts).toMatchObject({ unchanged: 1 });
    const raised = await bring(
      "users",
      toCsv(person("jane@acme.example", { roles: "Dispute Analyst" })),
    );
    expect(raised.rejects).toMatchObject([{ field: "email", code: "conflict" }]);
    expect(await undo(first)).toMatchObject({ undone: 1, kept: 0 });
    expect((await usersNow()).map(({ email }) => email)).not.toContain("jane@acme.example");
    const rows = await findRows(at().store.read, "users", { email_folded: "jane@acme.example" });
    expect(rows).toEqual([]);
  });

  it.each([
    [{ email: "no address" }, "email", "format", /e-mail address/],
    [{ roles: "Emperor" }, "roles", "unknown_reference", /which has .*Dispute Analyst/],
    [{ roles: "" }, "roles", "required", /the tenant has/],
    [{ status: "Gone" }, "status", "enum", /Active, Inactive/],
    [{ timeZone: "Mars/Base" }, "timeZone", "enum", /IANA/],
    [{ createdDate: "2099-01-01" }, "createdDate", "range", /future/],
  ])("refuses the user %j", async (change, field, code, message) => {
    const { rejects } = await bring("users", toCsv({ ...person("x@acme.example"), ...change }));
    expect(rejects).toMatchObject([{ line: 2, field, code }]);
    expect(rejects[0]?.message).toMatch(message);
    expect(invited).not.toContain("x@acme.example");
  });

  it("leaves the account of a user of another tenant as it is", async () => {
    const other: Person = await at().tenant("history-other");
    const joined = await bring("users", toCsv(person(other.email)));
    expect(joined.counts.written).toBe(1);
    expect(invited).not.toContain(other.email);
    const listed = (await usersNow()).find(({ email }) => email === other.email);
    expect(listed).not.toMatchObject({ firstName: "Jane" });
    expect((await other.call("GET", DISPUTES)).status).toBe(200);
    expect(await undo(joined)).toMatchObject({ undone: 1, kept: 0 });
    expect((await other.call("GET", DISPUTES)).status).toBe(200);
  });

  it("keeps an imported user who has worked since, or whose rights have changed", async () => {
    const first = await bring("users", toCsv(person("worker@acme.example")));
    await bring(
      "notes",
      toCsv({ documentNumber: "D1", content: "w", createUser: "worker@acme.example" }),
    );
    expect(await undo(first)).toMatchObject({
      undone: 0,
      reasons: [{ reason: "dispute_notes refer to it" }],
    });
    const second = await bring("users", toCsv(person("login@acme.example")));
    const { id } = await findRow(at().store.read, "users", { email_folded: "login@acme.example" });
    const signedIn = { last_login_at: at().clock() + DAY };
    await at().store.transaction((tx) => changeRows(tx, "users", { id }, signedIn));
    expect(await undo(second)).toMatchObject({
      undone: 0,
      reasons: [{ reason: "the person has signed in since" }],
    });
  });

  it("forgets a former author's address when that person is deleted", async () => {
    const email = "gone@acme.example";
    const note = { documentNumber: "D1", content: "by a former author", createUser: email };
    await bring("notes", toCsv(note));
    const isTheirs = ({ content }: { content: string }) => content === note.content;
    expect((await notesOf(claim.disputeId)).find(isTheirs)).toMatchObject({ createUser: email });
    const made = {
      tenantId: TENANT,
      email,
      firstName: "G",
      lastName: "O",
      roles: ["Dispute Analyst"],
    };
    const { userId } = await createUser(needs(), made, async () => "correct horse battery 9");
    await deleteUser(needs(), { email, confirm: email });
    expect((await notesOf(claim.disputeId)).find(isTheirs)).toMatchObject({ createUser: userId });
  });
});
