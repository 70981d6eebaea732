import { beforeAll, expect, it } from "vitest";
import { MINUTE } from "../../src/kit/clock.ts";
import { faultsOf, statusesOf } from "../support/configuration.ts";
import { ACCOUNT, accountAt, ingestTenant, recordAt, useIngestTenant } from "../support/ingest.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

onEveryStore("notes on accounts", (at) => {
  const call = useIngestTenant(at, "notes");
  const account = (number: string) => recordAt(call, accountAt(number));
  const noteAt = (number: string, reference: string) =>
    `${accountAt(number)}/notes/${encodeURIComponent(reference)}`;

  beforeAll(async () => {
    for (const number of ["A", "B", "ORDER"]) await account(number).post(ACCOUNT);
  });

  verifies("IA-13", "IA-14", "IA-17", "T-10");
  it("adds a note dated now by default", async () => {
    const bare = await account("A").note({ reference: "N-1", body: "Called." });
    const now = new Date(at().clock()).toISOString();
    expect([bare.status, bare.body]).toEqual([
      201,
      {
        reference: "N-1",
        account_number: "A",
        body: "Called.",
        subject: null,
        note_type: null,
        effective_date: now,
        created_at: now,
      },
    ]);
    const whole = {
      reference: "N-2",
      body: "Promised to pay.",
      subject: "Promise",
      note_type: "call",
      effective_date: "2026-01-15",
    };
    const made = await account("A").note(whole);
    expect([made.status, made.body]).toEqual([
      201,
      { ...whole, account_number: "A", created_at: now },
    ]);
    const read = await call("GET", noteAt("A", "N-2"));
    expect([read.status, read.body]).toEqual([200, made.body]);
  });

  verifies("D-GEN-2");
  it("returns a time with an offset in UTC", async () => {
    const made = await account("A").note({
      reference: "zone",
      body: "x",
      effective_date: "2026-01-15T23:30:00-05:00",
    });
    expect(made.body.effective_date).toBe("2026-01-16T04:30:00.000Z");
  });

  verifies("IA-13", "IA-16", "T-18");
  it("refuses a note without reference, body or existing account", async () => {
    const bad = await account("A").note({ body: "", effective_date: "2026-02-30", subject: 1 });
    expect([bad.status, bad.body.error]).toEqual([422, "validation_failed"]);
    expect(faultsOf(bad.body)).toEqual({
      reference: "required",
      body: "empty",
      effective_date: "format",
      subject: "type",
    });
    const missing = await account("nobody").note({ reference: "N-9", body: "x" });
    expect([missing.status, missing.body.error]).toEqual([404, "account_not_found"]);
    expect((await call("GET", noteAt("A", "N-9"))).status).toBe(404);
  });

  verifies("IA-15");
  it("accepts a reference once per tenant", async () => {
    await account("A").note({ reference: "ONE", body: "first" });
    const again = await account("B").note({ reference: "ONE", body: "second" });
    expect([again.status, again.body]).toEqual([
      409,
      {
        error: "note_reference_already_exists",
        reference: "ONE",
        message: "A note has the reference ONE already.",
      },
    ]);
    const other = recordAt(await ingestTenant(at(), "others"), accountAt("A"));
    await other.post(ACCOUNT);
    expect((await other.note({ reference: "ONE", body: "ours" })).status).toBe(201);
    expect((await call("GET", noteAt("A", "ONE"))).body.body).toBe("first");
  });

  verifies("IA-15");
  it("accepts a reference from one of many concurrent requests", async () => {
    const all = await Promise.all(
      ["A", "B", "A", "B"].map((number) => account(number).note({ reference: "RACE", body: "x" })),
    );
    expect(statusesOf(all)).toEqual([201, 409, 409, 409]);
  });

  verifies("IA-04", "IA-18", "T-10");
  it("lists an account's notes in the account's format, newest date first", async () => {
    const { note, get } = account("ORDER");
    for (const [reference, effective_date] of [
      ["middle", "2026-01-15"],
      ["newest", "2026-02-01T00:00:00Z"],
      ["oldest", "2025-12-31"],
    ]) {
      at().clock.advance(MINUTE);
      const sent = { reference, effective_date, body: `About ${reference}` };
      await note({ ...sent, subject: "hidden", note_type: "hidden" });
    }
    const { notes } = (await get()).body;
    expect(notes.map(({ reference }: { reference: string }) => reference)).toEqual([
      "newest",
      "middle",
      "oldest",
    ]);
    expect(notes[1]).toEqual({
      reference: "middle",
      accountNumber: "ORDER",
      body: "About middle",
      effective_date: "2026-01-15",
      createdAt: expect.stringMatching(/Z$/),
    });
  });

  verifies("IA-19");
  it("has no request to change or remove a note", async () => {
    await account("A").note({ reference: "KEPT", body: "as it was" });
    const before = await call("GET", noteAt("A", "KEPT"));
    for (const method of ["PUT", "PATCH", "DELETE"]) {
      const sent = method === "DELETE" ? {} : { body: { body: "changed" } };
      const refused = await call(method, noteAt("A", "KEPT"), sent);
      expect([refused.status, refused.body.error]).toEqual([405, "method_not_allowed"]);
      expect(refused.headers.get("allow")).toBe("GET");
    }
    expect((await call("GET", noteAt("A", "KEPT"))).text).toBe(before.text);
  });

  verifies("IA-20", "C-36");
  it("finds a note only under its own account", async () => {
    await account("A").note({ reference: "MINE", body: "x" });
    const elsewhere = await call("GET", noteAt("B", "MINE"));
    expect([elsewhere.status, elsewhere.body.error]).toEqual([404, "note_not_found"]);
    const nowhere = await call("GET", noteAt("nobody", "MINE"));
    expect([nowhere.status, nowhere.body.error]).toEqual([404, "account_not_found"]);
  });

  verifies("ID-20");
  it("accepts unusual references and account numbers", async () => {
    const number = "A/B %41 ü 株?#";
    await account(number).post(ACCOUNT);
    const reference = "n/1 %2F é🙂";
    const made = await account(number).note({ reference, body: "x" });
    expect(made.status, made.text).toBe(201);
    expect((await call("GET", noteAt(number, reference))).body).toEqual(made.body);
  });
});
