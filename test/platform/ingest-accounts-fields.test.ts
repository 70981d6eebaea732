import { expect, it } from "vitest";
import { faultsOf } from "../support/configuration.ts";
import { ACCOUNT, accountAt, recordAt, useIngestTenant, WHOLE_ACCOUNT } from "../support/ingest.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

onEveryStore("fields of ingested accounts", (at) => {
  const call = useIngestTenant(at, "basic");

  const account = (number: string) => recordAt(call, accountAt(number));

  verifies("D-ING-10");
  it("refuses an account as its own ancestor", async () => {
    const below = (parent_account_number: string) => ({
      ...ACCOUNT,
      parent_account_number,
      is_parent_account: true,
    });
    const cycle = { parent_account_number: "cycle" };
    expect(faultsOf((await account("P1").post(below("P1"))).body)).toEqual(cycle);
    await account("P1").post(ACCOUNT);
    await account("P2").post(below("P1"));
    await account("P3").post(below("P2"));
    expect(faultsOf((await account("P1").put(below("P3"))).body)).toEqual(cycle);
    const patch = { parent_account_number: "P2", is_parent_account: true };
    expect(faultsOf((await account("P1").patch(patch)).body)).toEqual(cycle);
    expect((await account("P3").patch({ parent_account_number: "P1" })).status).toBe(200);
  });

  verifies("C-91");
  it("refuses a parent with 32 ancestors, and reads no further", async () => {
    const DEEPEST = 32;
    const below = (number: number) => ({
      ...ACCOUNT,
      parent_account_number: `deep-${number}`,
      is_parent_account: true,
    });
    await account("deep-0").post(ACCOUNT);
    for (let number = 1; number < DEEPEST; number += 1) {
      expect((await account(`deep-${number}`).post(below(number - 1))).status).toBe(201);
    }
    expect((await account("deep-32").post(below(DEEPEST - 1))).status).toBe(201);
    const refused = await account("deep-33").post(below(DEEPEST));
    expect(faultsOf(refused.body)).toEqual({ parent_account_number: "depth" });
  });

  verifies("C-91");
  it("counts the accounts above and below together, in either order of creation", async () => {
    const below = (parent: string) => ({
      ...ACCOUNT,
      parent_account_number: parent,
      is_parent_account: true,
    });
    const link = (number: number) => account(`up-${number}`).post(below(`up-${number + 1}`));
    for (let number = 0; number < 32; number += 1) expect((await link(number)).status).toBe(201);
    expect(faultsOf((await link(32)).body)).toEqual({ parent_account_number: "depth" });
    expect((await account("up-32").post(ACCOUNT)).status).toBe(201);
    expect(faultsOf((await account("up-32").put(below("top"))).body)).toEqual({
      parent_account_number: "depth",
    });
    // In the middle, the account at either end counts.
    expect((await account("up-16").patch({ parent_account_number: null })).status).toBe(200);
    await account("top").post(ACCOUNT);
    expect((await account("up-32").put(below("top"))).status).toBe(200);
    expect(faultsOf((await account("up-16").patch(below("up-17"))).body)).toEqual({
      parent_account_number: "depth",
    });
    expect((await account("up-16").patch(below("up-18"))).status).toBe(200);
  });

  verifies("IA-10");
  it("accepts the published codes, and no others", async () => {
    const { put } = account("CODES");
    for (const [field, value] of [
      ["currency", "XYZ"],
      ["currency", "usd"],
      ["currency", "US Dollar"],
      ["currency", 840],
      ["language", "xx"],
      ["language", "EN"],
      ["language", "eng"],
      ["billing_address.country", "ZZ"],
      ["billing_address.country", "USA"],
      ["remit_to.country", "UK"],
    ] as const) {
      const [outer = "", inner] = field.split(".");
      const body = { ...ACCOUNT, [outer]: inner === undefined ? value : { [inner]: value } };
      const refused = await put(body);
      expect([refused.status, Object.keys(faultsOf(refused.body))]).toEqual([422, [field]]);
    }
    const known = { currency: "KWD", language: "pt", remit_to: { country: "XK" } };
    expect(faultsOf((await put({ ...ACCOUNT, ...known })).body)).toEqual({
      "remit_to.country": "enum",
    });
    expect((await put({ ...ACCOUNT, ...known, remit_to: { country: "AX" } })).status).toBe(201);
  });

  verifies("D-ERR-7");
  it("reports every fault at once with its path", async () => {
    const refused = await account("FAULTS").post({
      name: "",
      language: "xx",
      credit_limit: "100",
      email: "nobody",
      billing_address: { country: "ZZ", city: 7 },
      remit_to: "x",
      parent_account_number: "FAULTS",
      custom_fields: { collections: { Since: { type: "date", value: "2026-02-30" } }, list: [1] },
      data_providers: [],
    });
    expect(refused.status).toBe(422);
    expect(faultsOf(refused.body)).toEqual({
      name: "empty",
      currency: "conditional_required",
      language: "enum",
      credit_limit: "type",
      email: "format",
      "billing_address.country": "enum",
      "billing_address.city": "type",
      remit_to: "type",
      parent_account_number: "cycle",
      is_parent_account: "conditional_required",
      "custom_fields.collections.Since.value": "type",
      "custom_fields.list": "type",
      data_providers: "type",
    });
    expect(Object.keys(refused.body).toSorted()).toEqual(["errors", "error", "message"].toSorted());
    for (const fault of refused.body.errors) {
      expect(Object.keys(fault).toSorted()).toEqual(["code", "field", "message"]);
    }
  });

  verifies("IA-11", "IA-21");
  it("returns every field unchanged", async () => {
    const { post, get } = account("WHOLE_ACCOUNT");
    const made = await post(WHOLE_ACCOUNT);
    expect(made.status, made.text).toBe(201);
    expect(made.body).toMatchObject(WHOLE_ACCOUNT);
    expect(made.body.data_providers).toEqual(WHOLE_ACCOUNT.data_providers);
    expect((await get()).body).toEqual({ ...made.body, notes: [] });
    expect(made.headers.get("x-ignored-fields")).toBeNull();
  });

  verifies("IA-11");
  it("keeps keys such as __proto__, and refuses values that it could not return unchanged", async () => {
    const { get } = account("PROTO");
    const send = (data_providers: string) =>
      call("PUT", accountAt("PROTO"), {
        raw: `{"name": "x", "currency": "USD", "data_providers": ${data_providers}}`,
      });
    expect((await send('{"__proto__": {"a": 1}, "constructor": 2}')).status).toBe(201);
    expect((await get()).text).toContain('{"__proto__":{"a":1},"constructor":2}');
    const long = await send('{"deep": {"id": 12345678901234567890}}');
    expect(faultsOf(long.body)).toEqual({ "data_providers.deep.id": "type" });
    expect(faultsOf((await send('{"a": ["\\u0000"]}')).body)).toEqual({
      "data_providers.a[0]": "format",
    });
    expect(faultsOf((await send('{"a\\u0000": 1}')).body)).toEqual({
      "data_providers.a\0": "format",
    });
  });

  verifies("D-ING-2");
  it("merges custom fields by name in a PATCH", async () => {
    const { put, patch } = account("CUSTOM");
    await put(WHOLE_ACCOUNT);
    const { body } = await patch({
      custom_fields: {
        collections: { Segment: null, Score: { type: "number", value: 9 } },
        region: null,
        rank: 4,
        added: "x",
      },
    });
    const { Since, Vip } = WHOLE_ACCOUNT.custom_fields.collections;
    expect(body.custom_fields).toEqual({
      collections: { Score: { type: "number", value: 9 }, Since, Vip },
      rank: 4,
      flagged: false,
      added: "x",
    });
    const replaced = await put({
      ...ACCOUNT,
      currency: "EUR",
      custom_fields: { only: 1, no: null },
    });
    expect(replaced.body.custom_fields).toEqual({ only: 1 });
  });

  verifies("D-GEN-6");
  it("names ignored fields, also inside known objects", async () => {
    const { put } = account("IGNORED");
    const { status, headers, body } = await put({
      ...ACCOUNT,
      csrId: 99,
      accountNumber: "FORGED",
      billing_address: { city: "Bonn", planet: "Earth" },
    });
    expect(status).toBe(201);
    expect(headers.get("x-ignored-fields")?.split(",").toSorted()).toEqual(
      ["csrId", "accountNumber", "billing_address.planet"].toSorted(),
    );
    expect(body).toMatchObject({ accountNumber: "IGNORED", billing_address: { city: "Bonn" } });
    expect(body.csrId).not.toBe(99);
  });

  verifies("D-GEN-9");
  it("returns a version, and refuses a stale one or one of a missing record", async () => {
    const { put, patch, get } = account("VERSION");
    const early = await put(ACCOUNT, { "If-Match": "*" });
    expect([early.status, early.body.error]).toEqual([412, "precondition_failed"]);
    expect((await get()).status).toBe(404);
    const first = (await put(ACCOUNT)).headers.get("etag") ?? "";
    expect((await get()).headers.get("etag")).toBe(first);
    const headers = { "If-Match": first };
    const changed = await patch({ phone: "1" }, headers);
    expect(changed.status).toBe(200);
    expect(changed.headers.get("etag")).toBe((await get()).headers.get("etag"));
    expect((await patch({ phone: "2" }, headers)).status).toBe(412);
    expect((await put(ACCOUNT, headers)).status).toBe(412);
    expect((await get()).body.phone).toBe("1");
  });
});
