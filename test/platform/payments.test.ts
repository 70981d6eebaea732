import { beforeAll, describe, expect, it } from "vitest";
import { CATALOGUE, SOURCES } from "../../src/contract/payments/catalogue.ts";
import { PaymentQueryBody, parseSelection } from "../../src/contract/payments/query.ts";
import { DAY } from "../../src/kit/clock.ts";
import { alterToken } from "../support/alter-token.ts";
import { type Caller, onEveryStore, useExportCaller } from "../support/platform.ts";
import { answered, coreOf, kept, type Row } from "../support/payment-model.ts";
import { load, paymentRow, paymentRows, QUERY, SCHEMA } from "../support/payment-rows.ts";
import { verifies } from "../support/verifies.ts";

const COUNT = 60;

const naming =
  (...words: string[]) =>
  (message: string): boolean =>
    words.every((word) => message.includes(word));

onEveryStore("payments", (at) => {
  const call = useExportCaller(at, "pay", ["export:read"]);
  const stranger = useExportCaller(at, "other");
  const ask = (body: object, who: Caller = call) => who("POST", QUERY, { body });
  const refusal = async (body: object): Promise<string> => {
    const { status, body: answer } = await ask(body);
    expect([status, answer.error.code]).toEqual([400, "BAD_REQUEST"]);
    return answer.error.message;
  };
  const ids = async (filters: object, source = "cashapp"): Promise<string[]> => {
    const { status, text, body } = await ask({ source, filters, fields: ["id"], limit: 1000 });
    expect(status, text).toBe(200);
    return body.data.map(({ id }: Row) => id);
  };

  beforeAll(async () => {
    await at().tenant("pay");
    await at().tenant("other");
    for (const source of SOURCES) {
      await load(at(), "pay", source, paymentRows(source, COUNT));
      await load(at(), "other", source, paymentRows(source, 3));
    }
  });

  verifies("QY-01", "D-QRY-5");
  it("serves the catalogue without a credential, to be cached for five minutes", async () => {
    const { status, body, headers } = await at().call("GET", SCHEMA);
    expect(status).toBe(200);
    expect(body.sources.map(({ source }: Row) => source)).toEqual(["cashapp", "iandp", "bpn"]);
    for (const { source, fields } of body.sources) {
      const known = CATALOGUE[source as keyof typeof CATALOGUE].fields;
      expect(fields.map(({ name }: Row) => name)).toEqual(known.map(({ name }) => name));
      for (const field of fields) {
        expect(Object.keys(field)).toEqual(
          expect.arrayContaining(["name", "type", "nullable", "core", "filterable", "operators"]),
        );
        expect("enum" in field).toBe(field.type === "enum");
      }
    }
    expect(headers.get("cache-control")).toBe("public, max-age=300");
    const etag = headers.get("etag") ?? "";
    const again = await at().call("GET", SCHEMA, { headers: { "If-None-Match": etag } });
    expect([again.status, again.text]).toEqual([304, ""]);
    const wrong = await at().call("GET", SCHEMA, { headers: { "X-API-Key": "rcvx_wrong" } });
    expect(wrong.status).toBe(200);
  });

  verifies("QY-02", "QY-04");
  it("returns rows with the core fields, or the requested ones, in the catalogue's order", async () => {
    for (const source of SOURCES) {
      const { status, body } = await ask({ source });
      expect(status).toBe(200);
      expect(body.data).toHaveLength(COUNT);
      expect(body.pagination).toEqual({ cursor: null, hasMore: false, rowCount: COUNT });
      const core = coreOf(source);
      expect(Object.keys(body.data[0])).toEqual(core.map(({ name }) => name));
      const [shown] = body.data;
      const { createdAt, updatedAt } = shown;
      expect(createdAt).toBe(updatedAt);
      const row = { ...paymentRow(source, 1), createdAt, updatedAt };
      expect(shown).toEqual(answered(row, core));
      const all = CATALOGUE[source].fields.map(({ name }) => name);
      const { body: some } = await ask({ source, fields: all.toReversed(), limit: 1 });
      expect(Object.keys(some.data[0])).toEqual(all);
      expect(some.data[0].tenantId).toBe("pay");
      expect((await ask({ source, fields: [] })).body).toEqual(body);
    }
  });

  verifies("QY-03");
  it("refuses any other source and names the three", async () => {
    for (const source of ["cash", "CASHAPP", "", null, 1, undefined]) {
      expect(await refusal({ source })).toContain("source");
    }
    expect(await refusal({ source: "cash" })).toContain("cashapp, iandp, bpn");
  });

  verifies("QY-05");
  it("finds the row by eq on every field", async () => {
    for (const source of SOURCES) {
      const { body } = await ask({
        source,
        fields: CATALOGUE[source].fields.map(({ name }) => name),
        limit: 1000,
      });
      for (const { name } of CATALOGUE[source].fields) {
        const value = body.data.find((row: Row) => row[name] !== null)[name];
        const expected = body.data.filter((row: Row) => row[name] === value);
        expect(await ids({ [name]: { eq: value } }, source), name).toEqual(
          expected.map(({ id }: Row) => id),
        );
      }
    }
  });

  verifies("QY-07");
  it("returns each row once over the pages of a cursor", async () => {
    const walked: string[] = [];
    let cursor: string | null = null;
    do {
      const query: object = { source: "iandp", fields: ["id"], limit: 7, cursor };
      const { body } = await ask(query);
      expect(body.pagination.rowCount).toBe(body.data.length);
      expect(body.pagination.hasMore).toBe(body.pagination.cursor !== null);
      walked.push(...body.data.map(({ id }: Row) => id));
      ({ cursor } = body.pagination);
    } while (cursor !== null);
    expect(walked).toEqual(paymentRows("iandp", COUNT).map(({ id }) => id));
  });

  verifies("QY-08");
  it("accepts limits from 1 to 100,000, also as pageSize", async () => {
    for (const limit of [0, -1, 1.5, "5", 100_001, null]) {
      expect(await refusal({ source: "bpn", limit })).toContain("limit");
    }
    const sizeOf = async (body: object) =>
      (await ask({ source: "bpn", ...body })).body.pagination.rowCount;
    expect(await sizeOf({ limit: 100_000 })).toBe(COUNT);
    expect(await sizeOf({ limit: 1 })).toBe(1);
    expect(await sizeOf({ pageSize: 2 })).toBe(2);
    expect(await refusal({ source: "bpn", limit: 1, pageSize: 2 })).toContain("pageSize");
  });

  verifies("QY-09", "T-22");
  it("returns only rows of the key's tenant for any query", async () => {
    expect(await ids({ tenantId: { eq: "other" } })).toEqual([]);
    expect(await ids({ tenantId: { ne: "pay" } })).toEqual([]);
    expect(
      await ids({ or: [{ tenantId: { eq: "other" } }, { id: { isNull: true } }] }).catch(String),
    ).toContain("isNull");
    expect(await ids({ not: { tenantId: { eq: "pay" } } })).toEqual([]);
    expect((await ask({ source: "cashapp" }, stranger)).body.data).toHaveLength(3);
  });

  verifies("QY-11", "T-22", "C-66");
  it("refuses a cursor of another tenant or query, altered, or older than a day", async () => {
    const query = {
      source: "cashapp",
      fields: ["id"],
      filters: { paymentDate: { gte: "2026-01-01" } },
    };
    const { body } = await ask({ ...query, limit: 2 });
    const { cursor } = body.pagination;
    const refused = async (more: object, who: Caller = call) => {
      const { status, body: answer } = await ask({ ...query, cursor, ...more }, who);
      expect(status).toBe(400);
      expect(answer.error.message).toContain("cursor");
    };
    await refused({}, stranger);
    await refused({ cursor: alterToken(cursor) });
    await refused({ cursor: "x" });
    await refused({ source: "iandp" });
    await refused({ fields: ["id", "payerName"] });
    await refused({ filters: { paymentDate: { gte: "2026-01-02" } } });
    const next = await ask({ ...query, cursor, limit: 3 });
    expect(next.body.data).toHaveLength(3);
    at().clock.advance(DAY + 1);
    await refused({});
  });

  verifies("QY-10", "C-75");
  it("writes only an audit entry, with the source and the number of rows", async () => {
    const { body } = await ask({ source: "bpn", filters: { deliveryStatus: { eq: "received" } } });
    await ask({ source: "bpn", filters: { nope: 1 } });
    const keyed = await at().exportCaller("pay", ["audit:read", "export:read"]);
    const { headers } = await keyed("GET", SCHEMA);
    const known = { "If-None-Match": headers.get("etag") ?? "" };
    await keyed("GET", SCHEMA, { headers: known });
    const { body: log } = await keyed("GET", "/api/v1/remittance-export/audit-logs?limit=4");
    const told = log.data.map(({ action, statusCode, endpoint, metadata }: Row) => [
      action,
      statusCode,
      endpoint,
      { ...(metadata as object), actor: undefined },
    ]);
    expect(told).toEqual([
      ["schema.read", 304, "/schema", {}],
      ["schema.read", 200, "/schema", {}],
      ["payments.queried", 400, "/payments/query", { source: "bpn" }],
      ["payments.queried", 200, "/payments/query", { source: "bpn", rowCount: body.data.length }],
    ]);
  });

  verifies("QY-06");
  describe("error messages of queries", () => {
    const told = (filters: unknown) => refusal({ source: "cashapp", filters });

    it("suggest similar fields and conditions", async () => {
      expect(await told({ paymentDat: { eq: "2026-01-01" } })).toSatisfy(
        naming("filters.paymentDat", "similar: paymentDate"),
      );
      expect(await told({ payment_amount: { gt: 1 } })).toContain("similar: paymentAmount");
      expect(await told({ deliveryStatus: { eq: "x" } })).toContain(
        "is not a field of cashapp, but of bpn",
      );
      expect(await told({ payerName: { startswith: "A" } })).toContain("similar: startsWith");
      expect(await told({ paymentAmount: { ">=": 1 } })).toContain("similar: gte");
      expect(await told({ paymentAmount: { $gt: 1 } })).toContain("similar: gt");
      expect(await told({ payerName: { like: "%A%" } })).toContain("similar: contains");
      expect(await told({ paymentAmount: { contains: "1" } })).toSatisfy(
        naming("not an operator of a field of type money", "between"),
      );
      expect(await told({ payerName: { or: [] } })).toContain("must stand beside the fields");
      expect(await told({ field: "payerName", value: "A" })).toContain(
        '{"FIELD": {"OPERATOR": VALUE}}',
      );
      expect(await refusal({ source: "cashapp", filter: {} })).toContain("similar: filters");
      expect(await told({ constructor: { eq: 1 } })).toContain("is not a field of cashapp");
      expect(await told({ paymentAmount: [{ toString: 1 }] })).toContain("have an operator");
      expect(await refusal({ source: "cashapp", fields: ["amount"] })).toMatch(
        /fields\[0\].*similar/,
      );
    });

    it("explain how to write a value without an operator", async () => {
      expect(await told({ payerName: "Acme" })).toContain('write {"eq": "Acme"}');
      expect(await told({ payerName: ["A", "B"] })).toContain('write {"in": ["A","B"]}');
      expect(await told({ payerName: null })).toContain('write {"isNull": true}');
      expect(await told({ payerName: { eq: null } })).toContain('{"isNull": true}');
    });

    it.each([
      ["a number where text is kept", { invoiceNumber: 12345 }, '{"eq": "12345"}'],
      ["text where a number is kept", { paymentAmount: "1000" }, '{"eq": 1000}'],
      ["a word for a flag", { shortPay: "True" }, '{"eq": true}'],
      ["an enum's value in capitals", { paymentMethod: "ACH" }, '{"eq": "ach"}'],
      ["a moment where days are kept", { paymentDate: "2026-01-02T00:00:00Z" }, '"2026-01-02"}'],
      ["two ends of a time", { paymentDate: ["2026-01-01", "2026-02-01"] }, '{"between": ['],
      ["a flag for what has a value", { disputeId: true }, '{"isNull": false}'],
      ["a list after eq", { poNumber: { eq: ["a", "b"] } }, '{"in": ["a","b"]}'],
      ["a list as text", { poNumber: { in: "a,b" } }, 'such as ["A", "B"]'],
      ["ends with names", { paymentDate: { between: { from: "2026-01-01" } } }, '"2026-01-31"]'],
      ["what exists", { disputeId: { exists: true } }, 'write {"isNull": false}'],
      ["what does not exist", { disputeId: { exists: false } }, 'write {"isNull": true}'],
      ["what is not null", { disputeId: { isNotNull: true } }, 'write {"isNull": false}'],
      ["anything but null", { disputeId: { ne: null } }, 'write {"isNull": false}'],
      [
        "what does not contain",
        { payerName: { notContains: "a" } },
        '{"not": {"payerName": {"contains": "a"}}}',
      ],
      [
        "what does not begin",
        { payerName: { not_starts_with: "a" } },
        '{"not": {"payerName": {"startsWith": "a"}}}',
      ],
      ["what does not equal", { payerName: { notEquals: "a" } }, '{"ne": "a"}'],
      ["a bound that is included", { paymentAmount: { $gte: 5 } }, "similar: gte;"],
      ["a bound that is left out", { paymentAmount: { $lt: 5 } }, "similar: lt;"],
      ["a group in capitals", { AND: [{ shortPay: { eq: true } }] }, 'write "and"'],
      ["a group with a sign", { $or: [{ shortPay: { eq: true } }] }, 'write "or"'],
      [
        "a group in a field",
        { payerName: { not: { eq: "a" } } },
        '{"not": {"payerName": {"eq":"a"}}}',
      ],
      ["a customer", { customerName: { eq: "a" } }, "similar: accountName"],
      ["another source's field", { paymentStatus: { eq: "a" } }, "but of iandp"],
    ] as [string, object, string][])(
      "leads from %s to what was meant",
      async (_what, filters, words) => {
        expect(await told(filters)).toContain(words);
      },
    );

    it("report values of other types, empty conditions and lists", async () => {
      expect(await told({ paymentAmount: { eq: "12.5" } })).toContain(
        "a number without quotes, such as 12.5",
      );
      expect(await told({ paymentDate: { eq: "1/31/2026" } })).toContain("2026-01-31");
      expect(await told({ paymentDate: { eq: "2026-02-30" } })).toContain("2026-01-31");
      // In UTC it is in the year 10000, whose text would sort before every other year's.
      const late = "9999-12-31T23:59:59-05:00";
      expect(await told({ postedAt: { lte: late } })).toContain("2026-01-31T00:00:00Z");
      expect(await told({ applicationStatus: { eq: "match" } })).toSatisfy(
        naming("matched, partial", "similar: matched"),
      );
      expect(await told({ shortPay: { eq: "true" } })).toContain("true or false");
      expect(await told({ payerName: {} })).toContain("must have an operator");
      expect(await told({ payerName: { in: [] } })).toContain("must not be empty");
      expect(await told({ payerName: { contains: "" } })).toContain("must not be empty");
      expect(await told({ paymentAmount: { between: [1] } })).toContain("a list of two values");
      expect(await told({ or: {} })).toContain("must be a list of filters");
      expect(await told({ or: [] })).toContain("must not be empty");
      expect(await told({ not: {} })).toContain("must contain at least one condition");
      expect(await told([])).toContain("must be an object of conditions");
    });

    verifies("C-41");
    it("make no suggestions if everything is wrong", async () => {
      const names = Array.from({ length: 9000 }, (_, place) => `payerNane${place}`);
      const bad = Object.fromEntries(names.map((name) => [name, { eq: 1 }]));
      const wrong = Object.fromEntries(names.map((name) => [name, 1]));
      for (const filters of [bad, { payerName: wrong }, { or: [bad, bad] }]) {
        const { faults } = parseSelection(PaymentQueryBody, { source: "cashapp", filters });
        expect(faults).toHaveLength(100);
      }
      const { faults } = parseSelection(PaymentQueryBody, { source: "cashapp", fields: names });
      expect(faults?.filter(({ code }) => code === "unknown")).toHaveLength(100);
      // A body has at most 2,000 different names.
      const sendable = Object.fromEntries(names.slice(0, 1000).map((name) => [name, { eq: 1 }]));
      expect(await told(sendable)).toContain("And 90 more.");
    });

    it("report every fault at once, within limits", async () => {
      expect(await told({ a: 1, payerName: 2, paymentAmount: { gt: "x" } })).toSatisfy(
        naming("filters.a", "payerName", "gt"),
      );
      const nested = (depth: number): object =>
        depth === 0 ? { payerName: { eq: "A" } } : { not: nested(depth - 1) };
      expect((await ask({ source: "cashapp", filters: nested(5) })).status).toBe(200);
      expect(await told(nested(6))).toContain("at most 5 levels deep");
      const many = (count: number) => ({
        or: Array.from({ length: count }, () => ({ payerName: { eq: "A" } })),
      });
      expect((await ask({ source: "cashapp", filters: many(100) })).status).toBe(200);
      expect(await told(many(101))).toContain("limit of 100 conditions");
      const listed = (count: number) => ({
        payerName: { in: Array.from({ length: count }, (_, place) => `${place}`) },
      });
      expect((await ask({ source: "cashapp", filters: listed(1000) })).status).toBe(200);
      expect(await told(listed(1001))).toContain("at most 1000 items");
    });
  });

  verifies("C-48", "C-49");
  it("accept wildcards, quotes and other scripts unchanged", async () => {
    const { body } = await ask({ source: "cashapp", limit: 1000 });
    const corpus = ["%", "_", "\\", "'", '"', "100%", "a_b", "ø", "ZÜRICH", "'; drop table x; --"];
    for (const text of corpus) {
      for (const operator of ["contains", "startsWith", "endsWith", "eq", "ne"]) {
        const filters = { payerName: { [operator]: text } };
        const expected = body.data.filter((row: Row) => kept(row, filters));
        expect(await ids(filters), `${operator} ${text}`).toEqual(
          expected.map(({ id }: Row) => id),
        );
      }
    }
  });
});
