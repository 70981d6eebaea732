import { expect, it } from "vitest";
import { contract, operations } from "../../src/contract/index.ts";
import { DAY } from "../../src/kit/clock.ts";
import { createSeal } from "../../src/kit/seal.ts";
import { AlreadyDone, createIdempotency } from "../../src/platform/http/idempotency.ts";
import { CALLBACK, WEBHOOKS_PATH } from "../support/export-records.ts";
import { everyPayment, SCHEDULES } from "../support/exports.ts";
import { ACCOUNT, accountAt, DOCUMENT, documentAt } from "../support/ingest.ts";
import {
  CONFIGURATION,
  configure,
  DISPUTES,
  MASTER_KEY,
  onEveryStore,
  type Person,
} from "../support/platform.ts";
import { findRow } from "../support/rows.ts";
import { verifies } from "../support/verifies.ts";

const key = (text: string) => ({ "Idempotency-Key": text });
const API_KEYS = "/authentication/v1/tenants/{t}/users/profile/api-key";

onEveryStore("safe retries", (at) => {
  const body = { amount: 5, accountNumber: "A", documentNumber: "D", reasonCode: "WRONG" };
  const create = (who: Person, name: string, sent: object = body) =>
    who.call("POST", DISPUTES, { body: sent, headers: key(name) });

  verifies("D-GEN-8");
  it("a repeat gets the first response again, also after the record has changed", async () => {
    const admin = await at().tenant("retry");
    await configure(admin);
    const first = await create(admin, "k1");
    await admin.call("PUT", `${DISPUTES}/${first.body.disputeId}`, { body: { poNumber: "later" } });
    const second = await create(admin, "k1");
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.text).toBe(first.text);
    expect(first.headers.get("idempotency-replayed")).toBeNull();
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    expect(second.headers.get("etag")).toBe(first.headers.get("etag"));
    expect((await admin.call("GET", DISPUTES)).body).toHaveLength(1);
  });

  verifies("D-GEN-8");
  it("every operation that creates honours the key", async () => {
    const admin = await at().tenant("retry-all");
    await configure(admin);
    const { disputeId } = (await create(admin, "parent")).body;
    const requests: Record<string, [path: string, body: object]> = {
      [contract.disputes.create.id]: [DISPUTES, body],
      [contract.dispute_notes.create.id]: [
        `${DISPUTES}/${disputeId}/disputenotes`,
        { content: "x" },
      ],
      [contract.reasons.create.id]: [
        `${CONFIGURATION}/reasons`,
        { code: "R", description: "R", categoryCode: "PRICE" },
      ],
      [contract.categories.create.id]: [
        `${CONFIGURATION}/categories`,
        { code: "C", description: "C" },
      ],
      [contract.departments.create.id]: [
        `${CONFIGURATION}/departments`,
        { code: "D", description: "D" },
      ],
      [contract.resolutions.create.id]: [
        `${CONFIGURATION}/resolutions`,
        { code: "S", description: "S" },
      ],
      [contract.assignees.create.id]: [
        `${CONFIGURATION}/assignees`,
        {
          departmentCode: "SALES",
          person: { firstName: "A", lastName: "B", email: "retry@sales.example" },
        },
      ],
      [contract.api_keys.create.id]: [API_KEYS, {}],
      [contract.accounts.create.id]: [accountAt("A"), ACCOUNT],
      [contract.account_notes.create.id]: [
        `${accountAt("A")}/notes`,
        { reference: "N", body: "x" },
      ],
      [contract.documents.create.id]: [documentAt("D"), DOCUMENT],
      [contract.dispute_attachments.create.id]: [
        `${DISPUTES}/${disputeId}/attachments`,
        { fileName: "proof.pdf" },
      ],
      [contract.schedules.create.id]: [SCHEDULES, { intervalMs: DAY, ...everyPayment }],
      [contract.webhooks.create.id]: [WEBHOOKS_PATH, { callbackUrl: CALLBACK }],
    };
    const keyed = await at().exportCaller("retry-all");
    const creating = operations.filter(({ effect }) => effect === "create");
    expect(Object.keys(requests).toSorted()).toEqual(creating.map(({ id }) => id).toSorted());
    for (const { id, service, returnsSecret } of creating) {
      const secret = returnsSecret !== null;
      const [path, sent] = requests[id] ?? ["", {}];
      const call = service === "gateway" ? admin.call : keyed;
      const ask = () => call("POST", path, { body: sent, headers: key(`all ${id}`) });
      const first = await ask();
      const second = await ask();
      expect([id, first.status]).toEqual([id, 201]);
      if (secret) {
        expect([id, second.status]).toEqual([id, 409]);
        expect(second.text).toContain(first.body.keyId ?? first.body.id);
      } else {
        expect([id, second.status, second.text]).toEqual([id, 201, first.text]);
      }
    }
  });

  verifies("D-GEN-8");
  it("the same key with another body or path is refused", async () => {
    const admin = await at().tenant("retry-other");
    await configure(admin);
    await create(admin, "k");
    const other = await create(admin, "k", { ...body, amount: 6 });
    expect([other.status, other.body.code]).toEqual([422, "idempotency_key_reused"]);
    const notes = async (disputeId: string) =>
      (
        await admin.call("POST", `${DISPUTES}/${disputeId}/disputenotes`, {
          body: { content: "same" },
          headers: key("note"),
        })
      ).status;
    const [one, two] = [(await create(admin, "a")).body, (await create(admin, "b")).body];
    expect([await notes(one.disputeId), await notes(two.disputeId)]).toEqual([201, 422]);
  });

  verifies("D-GEN-8");
  it("a key belongs to one route: another route treats it as new", async () => {
    const admin = await at().tenant("retry-route");
    const make = (path: string) =>
      admin.call("POST", `${CONFIGURATION}${path}`, {
        body: { code: "SAME", description: "Same" },
        headers: key("shared"),
      });
    const [department, category] = [await make("/departments"), await make("/categories")];
    expect([department.status, category.status]).toEqual([201, 201]);
    expect(category.body.categoryId).toEqual(expect.any(String));
    expect((await make("/departments")).text).toBe(department.text);
  });

  verifies("C-10", "C-76");
  it("fifty concurrent requests create one record", async () => {
    const admin = await at().tenant("retry-race");
    await configure(admin);
    const answers = await Promise.all(Array.from({ length: 50 }, () => create(admin, "race")));
    const statuses = new Set(answers.map(({ status }) => status));
    expect(statuses.has(201)).toBe(true);
    for (const { status, body: answer, headers } of answers) {
      if (status === 201) continue;
      expect([status, answer.code, headers.get("retry-after")]).toEqual([
        409,
        "idempotency_in_progress",
        "1",
      ]);
    }
    expect((await admin.call("GET", DISPUTES)).body).toHaveLength(1);
  });

  verifies("C-10");
  it("of two processes that serve a key at once, one writes its answer", async () => {
    const [one, other] = [1, 2].map(() => createIdempotency(createSeal(MASTER_KEY, "test")));
    const keyed = {
      tenant_id: "retry-processes",
      principal: "p",
      operation: "disputes.create",
      key: "race",
      request_hash: "h",
      now: at().clock(),
      secret: false,
    };
    const answer = (recordId: string) => ({ output: recordId, headers: {}, recordId });
    await at().store.transaction(async (tx) => one?.store(tx, keyed, answer("first")));
    const late = at().store.transaction(async (tx) => other?.store(tx, keyed, answer("second")));
    await expect(late).rejects.toBeInstanceOf(AlreadyDone);
    expect(await other?.find(at().store.read, keyed)).toEqual(answer("first"));
  });

  verifies("D-GEN-8");
  it("keys belong to their sender and tenant, and expire after a day", async () => {
    const admin = await at().tenant("retry-own");
    await configure(admin);
    const colleague = await at().person("retry-own", { roles: ["Agent"] });
    const ids = [
      (await create(admin, "k")).body.disputeId,
      (await create(colleague, "k")).body.disputeId,
    ];
    at().clock.advance(DAY - 1);
    expect((await create(admin, "k")).body.disputeId).toBe(ids[0]);
    at().clock.advance(2);
    ids.push((await create(admin, "k")).body.disputeId);
    expect(new Set(ids).size).toBe(3);
  });

  verifies("OP-50");
  it("a request removes few of many expired keys, and may use one of them again", async () => {
    const admin = await at().tenant("expired");
    await configure(admin);
    const first = await create(admin, "again");
    const { read, transaction } = at().store;
    const row = await findRow(read, "idempotency_keys", { key: "again" });
    at().clock.advance(DAY);
    const expired = Array.from({ length: 500 }, (_, index) => ({
      ...row,
      key: `old-${index}`,
      expires_at: at().clock() - 1000 + index,
    }));
    await transaction((tx) => tx.insertInto("idempotency_keys").values(expired).execute());
    for (const { key: name } of [...expired.slice(-2), row]) {
      const again = await create(admin, name);
      expect(again.status).toBe(201);
      expect(again.body.disputeId).not.toBe(first.body.disputeId);
      expect((await create(admin, name)).text).toBe(again.text);
    }
    const left = await read
      .selectFrom("idempotency_keys")
      .select("key")
      .where("expires_at", "<=", at().clock())
      .execute();
    expect(left.length).toBeGreaterThan(0);
    expect(left.length).toBeLessThan(500);
  });

  verifies("D-GEN-8");
  it("a refused request is not stored, an invalid key is refused, the response is encrypted", async () => {
    const admin = await at().tenant("retry-refused");
    await configure(admin);
    expect((await create(admin, "fix", { ...body, amount: 0 })).status).toBe(400);
    expect((await create(admin, "fix")).status).toBe(201);
    expect((await create(admin, "x".repeat(256))).status).toBe(400);
    // An empty header counts as absent.
    expect((await create(admin, "")).status).toBe(201);
    await create(admin, "sealed", { ...body, poNumber: "canary-po" });
    const rows = await at().store.read.selectFrom("idempotency_keys").selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain("canary-po");
  });

  verifies("D-GEN-8");
  it("the health document says that keys are honoured", async () => {
    expect((await at().call("GET", "/health")).body.idempotency).toBe(true);
  });
});

onEveryStore("ignored fields", (at) => {
  verifies("D-GEN-6");
  it("names ignored fields, at most twenty", async () => {
    const admin = await at().tenant("ignored");
    await configure(admin);
    const create = (extra: object) =>
      admin.call("POST", DISPUTES, {
        body: { amount: 5, accountNumber: "A", documentNumber: "D", reasonCode: "WRONG", ...extra },
      });
    expect((await create({})).headers.get("x-ignored-fields")).toBeNull();
    expect((await create({ Amount: 1, "odd,name\n": 2 })).headers.get("x-ignored-fields")).toBe(
      "Amount,odd%2Cname%0A",
    );
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`f${index}`, 1]));
    expect((await create(many)).headers.get("x-ignored-fields")?.split(",")).toHaveLength(20);
    const nested = await admin.call(
      "PUT",
      `${CONFIGURATION}/assignees/by-email/ana@sales.example`,
      {
        body: { departmentCode: "SALES", person: { nickname: "An", address: { planet: "Earth" } } },
      },
    );
    expect(nested.headers.get("x-ignored-fields")).toBe("person.nickname,person.address.planet");
  });
});
