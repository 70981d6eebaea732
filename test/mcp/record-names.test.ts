import { describe, expect, it } from "vitest";
import { onEveryStore } from "../support/platform.ts";
import { connectModern, createOptions, readProblem } from "./hosts.ts";
import { openOperationTenant } from "./operation-tenant.ts";
import { dispute } from "./records.ts";
import { scriptBroker } from "./script.ts";
import { verifies } from "../support/verifies.ts";

onEveryStore("codes in place of ids", (at) => {
  const tenant = openOperationTenant(at, "names");

  const codeOf = async (): Promise<{ disputeId: string; disputeCode: string }> => {
    const { disputeId } = tenant().records.dispute;
    const { disputeCode } = await tenant().answer("disputes_get", { disputeId });
    return { disputeId, disputeCode: String(disputeCode) };
  };

  verifies("IN-52");
  it("name a dispute in every tool that takes its id", async () => {
    const { answer } = tenant();
    const { disputeId, disputeCode } = await codeOf();
    const named = { disputeId: disputeCode.replace("D-", "d-") };
    expect(await answer("disputes_get", named)).toMatchObject({ disputeId, disputeCode });
    const note = await answer("dispute_notes_create", { ...named, content: "By its code." });
    expect(note).toMatchObject({ disputeId });
    expect(await answer("disputes_update", { ...named, poNumber: "PO-9" })).toMatchObject({
      disputeId,
      poNumber: "PO-9",
    });
    const list = await answer("disputes_list_by_ids", { disputeIds: [disputeCode, disputeId] });
    expect(list).toMatchObject({ items: [{ disputeId }] });
  });

  verifies("IN-52");
  it("name entries of the configuration", async () => {
    const { answer, records } = tenant();
    const { disputeId } = records.dispute;
    const { assigneeId, assigneeEmail } = records.assignee;
    const updated = await answer("disputes_update", {
      disputeId,
      reasonId: records.reason.reasonCode.toLowerCase(),
      assigneeId: assigneeEmail.toUpperCase(),
    });
    expect(updated).toMatchObject({ reasonId: records.reason.reasonId, assigneeId });
    const found = await answer("disputes_list", { AssigneeId: assigneeEmail });
    expect(found).toMatchObject({ items: [{ disputeId }] });
    const { departmentCode, departmentId } = records.department;
    const department = { departmentId: departmentCode, description: "By its code" };
    expect(await answer("departments_update", department)).toMatchObject({ departmentId });
    expect(await answer("departments_delete", { departmentId: departmentCode })).toMatchObject({
      deleted: true,
      departmentId,
    });
  });

  verifies("IN-57");
  it("of an unknown document or account are noted in the answer of disputes_create", async () => {
    const { answer, records } = tenant();
    const dispute = { amount: 3, reasonId: records.used.reasonId };
    const known = records.dispute;
    const numbers = { accountNumber: known.accountNumber, documentNumber: known.documentNumber };
    expect(await answer("disputes_create", { ...dispute, ...numbers })).not.toHaveProperty("notes");
    const unknown = { ...dispute, accountNumber: "NO-ACC", documentNumber: "NO-DOC" };
    expect(await answer("disputes_create", unknown)).toMatchObject({
      documentNumber: "NO-DOC",
      notes: ["The platform has no document NO-DOC.", "The platform has no account NO-ACC."],
    });
  });

  it.each([
    ["AssigneeId", "me"],
    ["AssigneeId", "00000000-0000-4000-8000-000000000000"],
    ["DepartmentId", "NONE"],
    ["ReasonName", "no such reason"],
    ["CategoryName", "no such category"],
    ["DepartmentName", "no such department"],
  ])(
    "of a list are refused where the configuration does not have them: %s %s",
    async (field, word) => {
      const problem = readProblem(await tenant().call("disputes_list", { [field]: word }));
      expect(problem.fields).toMatchObject([{ field, code: "unknown_reference" }]);
      expect(problem.message).toContain(`${field} names no `);
    },
  );

  it("of a list that is empty for another reason are accepted", async () => {
    const { answer, records } = tenant();
    const { assigneeId, assigneeEmail } = records.assignee;
    for (const AssigneeId of [assigneeId, assigneeEmail]) {
      const filters = { AssigneeId, CategoryName: "a", AccountNumber: "NO-ACC" };
      expect(await answer("disputes_list", filters)).toMatchObject({
        count: 0,
        about: { notes: ["Nothing matches. find_records finds the right AccountNumber."] },
      });
    }
    const filters = { accountNumber: { eq: "NO-ACC" } };
    expect(await answer("payments_query", { source: "cashapp", filters })).toMatchObject({
      data: [],
      about: { notes: ["Nothing matches. find_records finds the right accountNumber."] },
    });
  });

  it("are refused as the platform does where nothing has them", async () => {
    const problem = readProblem(await tenant().call("disputes_get", { disputeId: "D-NONE-01" }));
    expect(problem).toMatchObject({ code: "not_found" });
    expect(problem.nextStep).toContain("No dispute has this code");
    const update = { disputeId: (await codeOf()).disputeId, reasonId: "NONE" };
    const unknown = readProblem(await tenant().call("disputes_update", update));
    expect(unknown.fields).toMatchObject([{ field: "reasonId", code: "unknown_reference" }]);
  });
});

describe("codes that several records have", () => {
  verifies("IN-52");
  it("are refused with the candidates, before anything is changed", async () => {
    const twins = [dispute(1, { accountNumber: "A-1" }), dispute(1, { accountNumber: "A-2" })];
    const broker = scriptBroker({
      "disputes.list": () => twins,
      "reasons.list": () => [
        { reasonId: "r-1", code: "PRICE", categoryId: "c-1" },
        { reasonId: "r-2", code: "price", categoryId: "c-2" },
      ],
    });
    const host = await connectModern(await createOptions(broker));
    const first = readProblem(await host.call("disputes_get", { disputeId: "D-INV-1-01" }));
    expect(first).toMatchObject({ code: "invalid_request" });
    for (const { disputeId, accountNumber } of twins) {
      expect(first.message).toContain(`${disputeId} of account ${accountNumber}`);
    }
    const second = readProblem(
      await host.call("reasons_update", { reasonId: "Price", categoryId: "c-1" }),
    );
    expect(second.message).toContain("r-1 of categoryId c-1, r-2 of categoryId c-2");
    expect(broker.seen.map(({ id }) => id)).toEqual(["disputes.list", "reasons.list"]);
  });
});
