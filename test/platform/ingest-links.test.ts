import { beforeAll, expect, it } from "vitest";
import { MINUTE } from "../../src/kit/clock.ts";
import { setApplyWhenInvoiceClosed } from "../../src/platform/admin/resolutions.ts";
import { createTenant, setTenant } from "../../src/platform/admin/tenants.ts";
import { below, dispute, faultsOf } from "../support/configuration.ts";
import { ACCOUNT, accountAt, DOCUMENT, documentAt, recordAt } from "../support/ingest.ts";
import {
  configure,
  DISPUTES,
  onEveryStore,
  type Person,
  useExportCaller,
} from "../support/platform.ts";
import { randomId } from "../../src/kit/ids.ts";
import { verifies } from "../support/verifies.ts";

onEveryStore("disputes and what is ingested", (at) => {
  const TENANT = "linked";
  let admin: Person;
  const keyed = useExportCaller(at, TENANT);
  const account = (number: string) => recordAt(keyed, accountAt(number));
  const document = (number: string) => recordAt(keyed, documentAt(number));

  beforeAll(async () => {
    const needs = { store: at().store, clock: at().clock, newId: randomId };
    await createTenant(needs, { tenantId: TENANT, name: "x", currency: "CHF" });
    admin = await at().person(TENANT, { roles: ["Administrator"] });
    await configure(admin);
  });

  const open = (accountNumber: string, documentNumber: string, more: object = {}) =>
    dispute(admin, { accountNumber, documentNumber, reasonCode: "WRONG", ...more });
  const read = async (disputeId: string) =>
    (await admin.call("GET", `${DISPUTES}/${disputeId}`)).body;

  verifies("D-DISP-8");
  it("shows the current account name in a dispute", async () => {
    const { disputeId, accountName } = await open("NAMED", "N-1");
    expect(accountName).toBeNull();
    await account("NAMED").post({ ...ACCOUNT, name: "First" });
    expect((await read(disputeId)).accountName).toBe("First");
    await account("NAMED").patch({ name: "Second" });
    expect((await read(disputeId)).accountName).toBe("Second");
    const list = await admin.call("GET", `${DISPUTES}?AccountNumber=NAMED`);
    expect(list.body.map((row: { accountName: string }) => row.accountName)).toEqual(["Second"]);
  });

  verifies("D-DISP-8");
  it("uses the currency of its document, else its account's, else the tenant's", async () => {
    await account("CUR").post({ ...ACCOUNT, currency: "EUR" });
    const own = { ...DOCUMENT, account_number: "CUR" };
    await document("C-JPY").post({ ...own, currency: "JPY", original_currency: "USD" });
    await document("C-KWD").post({ ...own, original_currency: "KWD" });
    await document("C-NONE").post({ ...own, base_currency: "USD" });
    const currencyOf = async (accountNumber: string, documentNumber: string) =>
      (await open(accountNumber, documentNumber)).currencyCode;
    expect(await currencyOf("CUR", "C-JPY")).toBe("JPY");
    expect(await currencyOf("CUR", "C-KWD")).toBe("KWD");
    expect(await currencyOf("CUR", "C-NONE")).toBe("EUR");
    expect(await currencyOf("CUR", "C-UNKNOWN")).toBe("EUR");
    expect(await currencyOf("UNKNOWN", "C-UNKNOWN")).toBe("CHF");
    const body = {
      accountNumber: "CUR",
      documentNumber: "C-JPY",
      reasonCode: "WRONG",
      amount: 1.5,
    };
    const refused = await admin.call("POST", DISPUTES, { body });
    expect([refused.status, faultsOf(refused.body)]).toEqual([400, { amount: "format" }]);
  });

  verifies("D-DISP-9");
  it("refuses a document of another account, and an unknown one if the tenant requires known ones", async () => {
    await document("OWNED").post({ ...DOCUMENT, account_number: "OWNER" });
    const ask = (accountNumber: string, documentNumber: string) =>
      admin.call("POST", DISPUTES, {
        body: { accountNumber, documentNumber, amount: 1, reasonCode: "WRONG" },
      });
    const other = await ask("OTHER", "OWNED");
    expect([other.status, faultsOf(other.body)]).toEqual([400, { documentNumber: "mismatch" }]);
    expect((await ask("OWNER", "OWNED")).status).toBe(201);
    await setTenant({ store: at().store }, TENANT, ["requireKnownDocument=true"]);
    const unknown = await ask("OWNER", "NOWHERE");
    await setTenant({ store: at().store }, TENANT, ["requireKnownDocument=false"]);
    expect([unknown.status, faultsOf(unknown.body)]).toEqual([
      400,
      { documentNumber: "unknown_reference" },
    ]);
    expect((await ask("OWNER", "NOWHERE")).status).toBe(201);
  });

  const choose = (value: boolean) =>
    setApplyWhenInvoiceClosed(
      { store: at().store, clock: at().clock },
      { tenantId: TENANT, code: "CREDIT", value },
    );
  const countOf = async (status: number) =>
    Number(
      (await admin.call("GET", `${DISPUTES}?Status=${status}&PageSize=1`)).headers.get(
        "x-total-count",
      ),
    );

  verifies("D-CONF-8");
  it("keeps disputes open unless the tenant has chosen a resolution", async () => {
    await document("ALONE").post(DOCUMENT);
    const { disputeId } = await open("A-1", "ALONE");
    await document("ALONE").close({ closure_reason: "paid" });
    expect((await read(disputeId)).status).toBe(0);
  });

  verifies("D-CONF-8");
  it("closes a document's open disputes once, with every kind of closure", async () => {
    await choose(true);
    const ways: [string, () => Promise<{ status: number }>][] = [
      ["W-CLOSE", () => document("W-CLOSE").close({ closure_reason: "paid" })],
      ["W-PATCH", () => document("W-PATCH").patch({ denomination: 0 })],
      ["W-PUT", () => document("W-PUT").put({ ...DOCUMENT, denomination_in_base_currency: 0 })],
    ];
    for (const [number, close] of ways) {
      await document(number).post({ ...DOCUMENT, denomination: 5 });
      const first = await open("A-1", number);
      const second = await open("A-1", number);
      const elsewhere = await open("A-1", `${number}-other`);
      const canceled = await open("A-1", number);
      await admin.call("PUT", `${DISPUTES}/${canceled.disputeId}`, { body: { status: 2 } });
      const before = [await countOf(0), await countOf(1)];
      const { headers } = await admin.call("GET", `${DISPUTES}/${first.disputeId}`);
      const etag = headers.get("etag") ?? "";
      at().clock.advance(MINUTE);
      const now = new Date(at().clock()).toISOString();
      expect((await close()).status).toBe(200);
      for (const { disputeId } of [first, second]) {
        const closed = await read(disputeId);
        expect(closed).toMatchObject({
          status: 1,
          resolutionCode: "CREDIT",
          isValid: true,
          closedDate: now,
          updateDate: now,
        });
        expect(closed.updateUser).not.toBe(admin.userId);
      }
      const late = await admin.call("PUT", `${DISPUTES}/${first.disputeId}`, {
        body: { status: 0 },
        headers: { "If-Match": etag },
      });
      expect(late.status).toBe(412);
      expect((await read(elsewhere.disputeId)).status).toBe(0);
      expect((await read(canceled.disputeId)).status).toBe(2);
      const [wasOpen = 0, wasClosed = 0] = before;
      expect([await countOf(0), await countOf(1)]).toEqual([wasOpen - 2, wasClosed + 2]);
      // A reopened dispute stays open until the document closes again.
      await admin.call("PUT", `${DISPUTES}/${first.disputeId}`, { body: { status: 0 } });
      await document(number).patch({ comment: "later" });
      await document(number).patch({ denomination: 0 });
      expect((await read(first.disputeId)).status).toBe(0);
      await document(number).patch({ denomination: 4, denomination_in_base_currency: null });
      expect((await read(first.disputeId)).status).toBe(0);
      await document(number).patch({ denomination: 0 });
      expect((await read(first.disputeId)).status).toBe(1);
    }
    const created = await open("A-1", "W-POST");
    expect((await document("W-POST").post({ ...DOCUMENT, denomination: 0 })).status).toBe(201);
    expect((await read(created.disputeId)).status).toBe(1);
  });

  verifies("D-CONF-8");
  it("applies no inactive resolution", async () => {
    const { resolutionId } = (await below(admin)("GET", "/resolutions/by-code/CREDIT")).body;
    const set = (active: boolean) =>
      below(admin)("PUT", `/resolutions/${resolutionId}`, { body: { active } });
    await set(false);
    await document("INACTIVE").post(DOCUMENT);
    const { disputeId } = await open("A-1", "INACTIVE");
    await document("INACTIVE").close({ closure_reason: "paid" });
    await set(true);
    expect((await read(disputeId)).status).toBe(0);
  });

  verifies("D-CONF-8");
  it("closes no dispute if the closure is refused", async () => {
    await document("REFUSED").post(DOCUMENT);
    const { disputeId } = await open("A-1", "REFUSED");
    expect((await document("REFUSED").close({ closure_reason: "gone" })).status).toBe(422);
    const stale = { "If-Match": '"1.99"' };
    expect((await document("REFUSED").close({ closure_reason: "paid" }, stale)).status).toBe(412);
    expect((await read(disputeId)).status).toBe(0);
    await choose(false);
  });
});
