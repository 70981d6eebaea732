import { expect, it } from "vitest";
import { MINUTE } from "../../src/kit/clock.ts";
import { faultsOf, statusesOf } from "../support/configuration.ts";
import {
  ACCOUNT,
  accountAt,
  ingestTenant,
  recordAt,
  useIngestTenant,
  WHOLE_ACCOUNT,
} from "../support/ingest.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

onEveryStore("ingested accounts", (at) => {
  const call = useIngestTenant(at, "basic");

  const account = (number: string) => recordAt(call, accountAt(number));

  verifies("IA-01", "T-12");
  it("creates once; the second POST is a conflict that refers to PUT and PATCH", async () => {
    const { post, get } = account("A-1");
    const made = await post(ACCOUNT);
    expect([made.status, made.body]).toEqual([
      201,
      {
        csrId: 1,
        accountNumber: "A-1",
        ...ACCOUNT,
        createdAt: new Date(at().clock()).toISOString(),
        updatedAt: new Date(at().clock()).toISOString(),
      },
    ]);
    const again = await post({ ...ACCOUNT, name: "Other" });
    expect(again.status).toBe(409);
    expect(Object.keys(again.body).toSorted()).toEqual(["account_number", "error", "message"]);
    expect(again.body).toMatchObject({ error: "account_already_exists", account_number: "A-1" });
    expect(again.body.message).toMatch(/PUT.*PATCH/);
    expect((await get()).body.name).toBe(ACCOUNT.name);
  });

  verifies("IA-02", "IA-12");
  it("replaces or creates with PUT; a repeat changes nothing", async () => {
    const { put, get } = account("PUT-1");
    const made = await put(ACCOUNT);
    expect(made.status).toBe(201);
    expect(made.body.csrId).toBeTypeOf("number");
    at().clock.advance(MINUTE);
    const same = await put(ACCOUNT);
    expect([same.status, same.body]).toEqual([200, made.body]);
    const other = await put({ ...ACCOUNT, name: "Renamed" });
    expect([other.status, other.body]).toEqual([
      200,
      { ...made.body, name: "Renamed", updatedAt: new Date(at().clock()).toISOString() },
    ]);
    expect((await get()).body).toEqual({ ...other.body, notes: [] });
  });

  verifies("IA-02", "D-GEN-1");
  it("assigns csrIds from 1, each once, also in concurrent requests", async () => {
    const other = await ingestTenant(at(), "numbers");
    const all = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        recordAt(other, accountAt(`N-${n % 6}`)).put({ ...ACCOUNT, description: `${n}` }),
      ),
    );
    expect(statusesOf(all)).toEqual([...Array(6).fill(200), ...Array(6).fill(201)]);
    const ids = new Set(all.map(({ body }) => body.csrId));
    expect([...ids].toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  verifies("IA-03", "D-ING-2");
  it("clears absent fields in a PUT, except the currency", async () => {
    const { put, get } = account("PUT-2");
    await put(WHOLE_ACCOUNT);
    const { body } = await put({ name: "Bare" });
    expect(body).toEqual({
      csrId: body.csrId,
      accountNumber: "PUT-2",
      name: "Bare",
      currency: "EUR",
      createdAt: body.createdAt,
      updatedAt: body.updatedAt,
    });
    expect((await get()).body).toEqual({ ...body, notes: [] });
  });

  verifies("IA-04", "T-12");
  it("reports missing records in the API's own format", async () => {
    const missing = await account("nobody").get();
    expect([missing.status, missing.body]).toEqual([
      404,
      { error: "account_not_found", message: "There is no account nobody." },
    ]);
  });

  verifies("IA-05");
  it("changes any field with PATCH, and never creates", async () => {
    const { put, patch, get } = account("PATCH-1");
    const { body } = await put(WHOLE_ACCOUNT);
    at().clock.advance(MINUTE);
    const updatedAt = new Date(at().clock()).toISOString();
    const changed = await patch({ phone: "1", remit_to: { city: "Bonn" }, fax: null });
    const { fax: _fax, ...rest } = body;
    expect([changed.status, changed.body]).toEqual([
      200,
      { ...rest, phone: "1", remit_to: { city: "Bonn" }, updatedAt },
    ]);
    at().clock.advance(MINUTE);
    expect((await patch({})).body).toEqual(changed.body);
    const missing = await account("PATCH-0").patch({ name: "x" });
    expect([missing.status, missing.body.error]).toEqual([404, "account_not_found"]);
    expect((await account("PATCH-0").get()).status).toBe(404);
    expect((await get()).body).toMatchObject(changed.body);
  });

  verifies("D-ING-9");
  it("clears an optional field with null, and refuses null for a required one", async () => {
    const { put, patch } = account("PATCH-2");
    await put(WHOLE_ACCOUNT);
    const refused = await patch({ name: null });
    expect([refused.status, faultsOf(refused.body)]).toEqual([422, { name: "required" }]);
    const optional = Object.keys(WHOLE_ACCOUNT).filter(
      (name) => !["name", "currency"].includes(name),
    );
    const cleared = await patch(Object.fromEntries(optional.map((name) => [name, null])));
    expect(Object.keys(cleared.body).toSorted()).toEqual(
      ["accountNumber", "createdAt", "csrId", "currency", "name", "updatedAt"].toSorted(),
    );
  });

  verifies("D-ING-2");
  it("treats null in POST and PUT as absent", async () => {
    const { post, put } = account("NULLS");
    const nulls = Object.fromEntries(Object.keys(WHOLE_ACCOUNT).map((name) => [name, null]));
    const made = await post({ ...nulls, ...ACCOUNT, billing_address: { city: null, zip: "1" } });
    expect(made.status, made.text).toBe(201);
    expect(made.headers.get("x-ignored-fields")).toBeNull();
    expect(made.body).toMatchObject({ billing_address: { zip: "1" } });
    expect("phone" in made.body).toBe(false);
    expect((await put({ ...nulls, name: "x" })).body.currency).toBe("USD");
  });

  verifies("IA-06");
  it("requires a name", async () => {
    for (const [sent, code] of [
      [{}, "required"],
      [{ name: "" }, "empty"],
      [{ name: 7 }, "type"],
      [{ name: "x".repeat(201) }, "too_long"],
      [{ name: "a\0b" }, "format"],
    ] as const) {
      for (const method of ["post", "put"] as const) {
        const refused = await account("NAMELESS")[method]({ currency: "USD", ...sent });
        expect(refused.status).toBe(422);
        expect(refused.body.error).toBe("validation_failed");
        expect(faultsOf(refused.body)).toEqual({ name: code });
      }
    }
    expect((await account("NAMELESS").get()).status).toBe(404);
  });

  verifies("IA-07");
  it("requires a currency in the basic model only", async () => {
    const refused = await account("POOR").post({ name: "x" });
    expect([refused.status, faultsOf(refused.body)]).toEqual([
      422,
      { currency: "conditional_required" },
    ]);
    const extended = await ingestTenant(at(), "extended", { currencyModel: "extended" });
    const { post, patch } = recordAt(extended, accountAt("POOR"));
    expect((await post({ name: "x" })).status).toBe(201);
    expect((await patch({ phone: "1" })).status).toBe(200);
    expect((await patch({ currency: "EUR" })).body.currency).toBe("EUR");
    expect(faultsOf((await patch({ currency: "USD" })).body)).toEqual({ currency: "locked" });
  });

  verifies("IA-08");
  it("keeps the first currency", async () => {
    const { post, put, patch, get } = account("LOCKED");
    await post(ACCOUNT);
    for (const refused of [
      await put({ ...ACCOUNT, currency: "EUR" }),
      await patch({ currency: "EUR" }),
      await patch({ currency: null }),
    ]) {
      expect([refused.status, faultsOf(refused.body)]).toEqual([422, { currency: "locked" }]);
    }
    expect((await put({ ...ACCOUNT, currency: "USD" })).status).toBe(200);
    expect((await patch({ currency: "USD" })).status).toBe(200);
    expect((await get()).body.currency).toBe("USD");
  });

  verifies("IA-09");
  it("requires is_parent_account with a parent's number, also after a PATCH", async () => {
    const { post, put, patch } = account("CHILD");
    const needed = { is_parent_account: "conditional_required" };
    const parent = { parent_account_number: "unknown" };
    expect(faultsOf((await post({ ...ACCOUNT, ...parent })).body)).toEqual(needed);
    expect(faultsOf((await put({ ...ACCOUNT, ...parent })).body)).toEqual(needed);
    expect((await post(ACCOUNT)).status).toBe(201);
    expect(faultsOf((await patch(parent)).body)).toEqual(needed);
    expect((await patch({ ...parent, is_parent_account: false })).status).toBe(200);
    expect(faultsOf((await patch({ is_parent_account: null })).body)).toEqual(needed);
    expect((await patch({ is_parent_account: null, parent_account_number: null })).status).toBe(
      200,
    );
  });
});
