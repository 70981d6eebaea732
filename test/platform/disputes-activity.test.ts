import { beforeAll, expect, it } from "vitest";
import type { DisputeActivity } from "../../src/contract/insights/dispute-activity.ts";
import type { Dispute } from "../../src/contract/operations/disputes.ts";
import { make } from "../support/configuration.ts";
import { importRecords } from "../support/importing.ts";
import { ndjson } from "../support/payment-rows.ts";
import { DISPUTES, onEveryStore, type Person, useTenant } from "../support/platform.ts";

const TENANT = "activity";

onEveryStore("POST /disputes/activity", (at) => {
  const admin = useTenant(at, TENANT);
  let quiet: Dispute;
  let busy: Dispute;

  const open = async (documentNumber: string): Promise<Dispute> => {
    const body = { accountNumber: "A-1", documentNumber, amount: 5, reasonCode: "WRONG" };
    return (await admin.call("POST", DISPUTES, { body })).body as Dispute;
  };
  const activityOf = async (person: Person, ...disputeIds: string[]) => {
    const { body, status } = await person.call("POST", `${DISPUTES}/activity`, {
      body: { disputeIds },
    });
    return { status, all: body as DisputeActivity[] };
  };

  beforeAll(async () => {
    at().clock.set("2026-02-10T09:00:00.000Z");
    await make(admin, "/categories", { code: "PRICE", description: "Price" });
    await make(admin, "/reasons", { categoryCode: "PRICE", code: "WRONG", description: "Wrong" });
    const document = {
      document_number: "INV-1",
      account_number: "A-1",
      invoice_date: "2025-09-01",
      due_date: "2025-10-01",
      denomination: 100,
    };
    const closure = {
      document_number: "INV-1",
      closure_reason: "paid",
      closure_date: "2026-02-01",
    };
    for (const [kind, row] of [
      ["documents", document],
      ["closures", closure],
    ] as const) {
      const { rejects } = await importRecords(at(), TENANT, kind, ndjson([row]), {
        format: "ndjson",
      });
      if (rejects.length > 0) throw new Error(JSON.stringify(rejects));
    }
    quiet = await open("INV-404");
    busy = await open("INV-1");
    const path = `${DISPUTES}/${busy.disputeId}`;
    for (const [day, content] of [
      ["12", "First."],
      ["14", `é${"x".repeat(400)}`],
    ]) {
      at().clock.set(`2026-02-${day}T09:00:00.000Z`);
      await admin.call("POST", `${path}/disputenotes`, { body: { content, visibility: "All" } });
    }
    at().clock.set("2026-02-20T09:00:00.000Z");
    await admin.call("POST", `${path}/attachments`, { body: { fileName: "proof.pdf" } });
  });

  it("tells the newest change, note and file of each dispute, and its document", async () => {
    const { status, all } = await activityOf(admin, busy.disputeId, quiet.disputeId, "unknown");
    expect(status).toBe(200);
    const byId = new Map(all.map((one) => [one.disputeId, one]));
    expect(byId.get(busy.disputeId)).toEqual({
      disputeId: busy.disputeId,
      lastActivityDate: "2026-02-20T09:00:00.000Z",
      noteCount: 2,
      attachmentCount: 1,
      lastNote: {
        content: `é${"x".repeat(299)}`,
        visibility: "All",
        createUser: busy.createUser,
        createDate: "2026-02-14T09:00:00.000Z",
      },
      documentStatus: "closed",
      documentClosedDate: expect.stringMatching(/^2026-02-01T/) as unknown,
    });
    expect(byId.get(quiet.disputeId)).toEqual({
      disputeId: quiet.disputeId,
      lastActivityDate: quiet.updateDate,
      noteCount: 0,
      attachmentCount: 0,
      lastNote: null,
      documentStatus: "missing",
      documentClosedDate: null,
    });
    expect(all).toHaveLength(2);
  });

  it("tells nothing of another tenant's disputes", async () => {
    const other = await at().tenant(`${TENANT}-other`);
    expect(await activityOf(other, busy.disputeId)).toEqual({ status: 200, all: [] });
  });
});
