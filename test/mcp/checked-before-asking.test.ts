import { expect, it } from "vitest";
import { onEveryStore } from "../support/platform.ts";
import { readProblem } from "./hosts.ts";
import { openOperationTenant } from "./operation-tenant.ts";
import { verifies } from "../support/verifies.ts";

onEveryStore("before a person is asked", (at) => {
  const tenant = openOperationTenant(at, "checked");

  const refused = async (tool: string, args: Record<string, unknown>) => {
    const asked = tenant().questions.length;
    const problem = readProblem(await tenant().call(tool, args));
    expect(tenant().questions).toHaveLength(asked);
    return problem;
  };

  verifies("IN-54");
  it.each([
    [{ reasonCode: "NONE" }, "reasonCode must be an existing reason; reasons_list shows them"],
    [{ externalReasonId: "none" }, "externalReasonId must be an existing reason"],
    [{ assigneeEmail: "no@one.example" }, "assigneeEmail must be an existing assignee"],
    [{ assigneeId: "none" }, "assigneeId must be an existing assignee"],
    [{ resolutionCode: "NONE" }, "resolutionCode names no record"],
    [{ ifMatch: '"old"' }, "has changed since it was read"],
  ])("closing a dispute with %j is refused", async (more, message) => {
    const { disputeId } = tenant().records.dispute;
    const problem = await refused("disputes_update", { disputeId, status: "Closed", ...more });
    expect(problem.message).toContain(message);
  });

  verifies("IN-54");
  it("a record that does not exist is not asked about", async () => {
    expect(await refused("disputes_delete", { disputeId: "none" })).toMatchObject({
      code: "not_found",
    });
  });

  verifies("IN-54");
  it("the question says what is lost", async () => {
    const { disputeId } = tenant().records.dispute;
    await tenant().answer("disputes_update", { disputeId, status: "Closed" });
    expect(tenant().questions.at(-1)).toContain(
      "without a resolution: it will count as not valid?",
    );
    await tenant().answer("disputes_update", { disputeId, status: "Open" });
  });
});
