import { describe, expect, it } from "vitest";
import { onEveryStore } from "../support/platform.ts";
import { Problem } from "../../src/contract/errors.ts";
import { connectModern, createOptions, readProblem, YES } from "./hosts.ts";
import { openOperationTenant } from "./operation-tenant.ts";
import { scriptBroker } from "./script.ts";
import { verifies } from "../support/verifies.ts";

verifies("IN-54");
onEveryStore("before a person is asked", (at) => {
  const tenant = openOperationTenant(at, "checked");

  const refused = async (tool: string, args: Record<string, unknown>) => {
    const asked = tenant().questions.length;
    const problem = readProblem(await tenant().call(tool, args));
    expect(tenant().questions).toHaveLength(asked);
    return problem;
  };

  it.each([
    [{ reasonCode: "NONE" }, "reasonCode names no reason"],
    [{ externalReasonId: "none" }, "externalReasonId names no reason"],
    [{ assigneeEmail: "no@one.example" }, "assigneeEmail names no assignee"],
    [{ assigneeId: "none" }, "assigneeId names no assignee"],
    [{ resolutionCode: "NONE" }, "resolutionCode names no resolution"],
    [{ ifMatch: '"old"' }, "changed"],
  ])("closing a dispute with %j is refused", async (more, message) => {
    const { disputeId } = tenant().records.dispute;
    const problem = await refused("disputes_update", { disputeId, status: "Closed", ...more });
    expect(problem.message).toContain(message);
  });

  it("a record that does not exist is not asked about", async () => {
    expect(await refused("disputes_delete", { disputeId: "none" })).toMatchObject({
      code: "not_found",
    });
  });

  it("a webhook and a schedule that do not exist are not asked about", async () => {
    for (const tool of ["webhooks_delete", "schedules_delete"]) {
      expect(await refused(tool, { id: "none" })).toMatchObject({ code: "not_found" });
    }
  });

  it.each([
    ["not a url", "must be an absolute URL"],
    ["ftp://hooks.example/", "must be an https URL"],
    ["http://93.184.216.34/x", "must be an https URL"],
    ["http://[2606:4700::1111]/", "must be an https URL"],
    ["https://user@hooks.example/", "must not hold a user name or password"],
    ["https://hooks.example:22/", "must have port 443, or one from 1024 on"],
  ])("a webhook to %s is refused as the platform does", async (callbackUrl, message) => {
    const problem = await refused("webhooks_create", { callbackUrl });
    expect(problem).toMatchObject({
      code: "invalid_request",
      fields: [{ field: "callbackUrl", code: "format", message }],
    });
  });

  it("a webhook for a schedule that does not exist is refused", async () => {
    const { schedule } = tenant().records;
    const hook = { callbackUrl: "https://hooks.example/in" };
    const problem = await refused("webhooks_create", { ...hook, scheduleId: "none" });
    expect(problem).toMatchObject({
      code: "invalid_request",
      message: "scheduleId names no schedule.",
    });
    const { scheduleId } = schedule;
    expect(await tenant().answer("webhooks_create", { ...hook, scheduleId })).toMatchObject({
      scheduleId,
    });
  });

  it("a closure dated in the future is refused", async () => {
    const { document_number } = tenant().records.document;
    const closing = { document_number, closure_reason: "paid", closure_date: "2030-01-01" };
    expect(await refused("documents_close", closing)).toMatchObject({
      code: "validation_failed",
      fields: [{ field: "closure_date", code: "range" }],
    });
  });

  it("an entry of the configuration that is in use is not asked about", async () => {
    const { used, shelf, desk, dispute } = tenant().records;
    const { disputeId } = dispute;
    await tenant().answer("resolutions_create", { code: "SPENT", description: "Spent" });
    const closing = { disputeId, status: "Closed", resolutionCode: "SPENT" };
    await tenant().answer("disputes_update", closing);
    const { departmentId, departmentCode } = desk;
    const { assigneeId } = used;
    const reason = { categoryCode: shelf.categoryCode, reasonCode: "USED-one" };
    const cases: [tool: string, args: Record<string, unknown>, message: string][] = [
      ["categories_delete", { categoryCode: shelf.categoryCode }, "has reasons"],
      ["departments_delete", { departmentId }, "has assignees"],
      ["departments_delete_by_code", { departmentCode }, "has assignees"],
      ["assignees_delete", { assigneeId }, "is named by disputes"],
      [
        "assignees_delete_by_email",
        { departmentCode, assigneeEmail: "busy-one@work.example" },
        "is named by disputes",
      ],
      ["reasons_delete", reason, "is a default reason of the category"],
      ["resolutions_delete_by_code", { resolutionCode: "SPENT" }, "were closed with"],
    ];
    for (const [tool, args, message] of cases) {
      const problem = await refused(tool, args);
      expect([tool, problem]).toEqual([
        tool,
        expect.objectContaining({ code: "in_use", message: expect.stringContaining(message) }),
      ]);
    }
    await tenant().answer("categories_update", {
      categoryId: shelf.categoryId,
      defaultInternalReasonId: null,
    });
    expect((await refused("reasons_delete", reason)).message).toContain("Disputes have the reason");
    await tenant().answer("disputes_update", { disputeId, status: "Open" });
  });

  it("an entry that nothing uses is asked about and deleted", async () => {
    const { department, category, resolution, assignee } = tenant().records;
    for (const [tool, args] of [
      ["departments_delete", { departmentId: department.departmentId }],
      ["categories_delete", { categoryCode: category.categoryCode }],
      ["resolutions_delete_by_code", { resolutionCode: resolution.resolutionCode }],
      ["assignees_delete", { assigneeId: assignee.assigneeId }],
    ] as const) {
      const asked = tenant().questions.length;
      expect(await tenant().answer(tool, args)).toMatchObject({ deleted: true });
      expect(tenant().questions).toHaveLength(asked + 1);
    }
  });

  it("the question says what is lost", async () => {
    const { disputeId } = tenant().records.dispute;
    const unused = { reasonId: null, externalReasonCode: null };
    await tenant().answer("disputes_update", { disputeId, status: "Closed", ...unused });
    expect(tenant().questions.at(-1)).toContain(
      "without a resolution: it will count as not valid?",
    );
    await tenant().answer("disputes_update", { disputeId, status: "Open" });
  });
});

describe("a platform without dry runs", () => {
  const refuse = () => {
    throw new Problem("in_use", "Disputes were closed with the resolution SPENT.");
  };
  const plays = {
    "resolutions.get": () => ({ resolutionId: "r-1", code: "SPENT" }),
    "resolutions.delete_by_code": refuse,
    "resolutions.delete_by_code.dry_run": refuse,
  };
  const remove = async (extensions: readonly string[]) => {
    const broker = scriptBroker(plays, { extensions });
    const questions: string[] = [];
    const host = await connectModern(await createOptions(broker), (question) => {
      questions.push(question);
      return YES(question);
    });
    const result = await host.call("resolutions_delete_by_code", { resolutionCode: "SPENT" });
    await host.close();
    return { questions, code: readProblem(result).code, calls: broker.seen.map(({ id }) => id) };
  };

  verifies("IN-54");
  it("refuses what a person has confirmed", async () => {
    expect(await remove([])).toEqual({
      questions: [expect.stringContaining("Delete resolution SPENT")],
      code: "in_use",
      // Read again after the answer.
      calls: ["resolutions.get", "resolutions.get", "resolutions.delete_by_code"],
    });
  });

  verifies("IN-54");
  it("differs from one that announces them, which no person is asked about", async () => {
    expect(await remove(["resolutions.delete_by_code.dry_run"])).toEqual({
      questions: [],
      code: "in_use",
      calls: ["resolutions.delete_by_code.dry_run"],
    });
  });
});
