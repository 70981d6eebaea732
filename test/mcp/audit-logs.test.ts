import { expect, it } from "vitest";
import { scriptBroker } from "./script.ts";
import { onEveryStore } from "../support/platform.ts";
import { connectModern, createOptions, readProblem } from "./hosts.ts";
import { openOperationTenant } from "./operation-tenant.ts";
import { verifies } from "../support/verifies.ts";

type Entry = { action: string; metadata: Record<string, unknown> };

verifies("IN-56");
onEveryStore("the tool of the audit log", (at) => {
  const tenant = openOperationTenant(at, "audited");
  const list = async (args: Record<string, unknown>): Promise<Entry[]> =>
    (await tenant().answer("audit_logs_list", args))["data"] as Entry[];

  verifies("IN-52");
  it("finds the entries of one record by its id, number or dispute code, in any letter case", async () => {
    const { disputeId } = tenant().records.dispute;
    const { documentNumber: document_number } = tenant().records.dispute;
    const { disputeCode } = await tenant().answer("disputes_get", { disputeId });
    await tenant().call("documents_get", { document_number });
    await tenant().call("disputes_get", { disputeId: `${disputeId}-other` });
    for (const resourceId of [disputeId, disputeId.toUpperCase(), disputeCode]) {
      const found = await list({ resourceId, action: "dispute.read" });
      expect(found.map(({ metadata }) => metadata["disputeId"])).toEqual([disputeId]);
    }
    const documents = await list({ resourceId: document_number });
    expect(documents.map(({ metadata }) => metadata["document_number"])).toContain(document_number);
    for (const resourceId of ["%", "_", disputeId.slice(0, 8), tenant().admin.userId]) {
      expect([resourceId, await list({ resourceId })]).toEqual([resourceId, []]);
    }
  });

  it("finds ids by their beginning with q", async () => {
    const { disputeId } = tenant().records.dispute;
    const found = await list({ q: disputeId.slice(0, 13), action: "dispute.read" });
    expect(found.map(({ metadata }) => metadata["disputeId"])).toContain(disputeId);
    expect(await list({ q: `${disputeId.slice(0, 13)}%` })).toEqual([]);
  });

  it("names the actions near an unknown one", async () => {
    const problem = readProblem(
      await tenant().call("audit_logs_list", { action: "dispute.close" }),
    );
    expect(problem).toMatchObject({ code: "invalid_request" });
    expect(problem.message).toContain("dispute.closed");
    for (const action of ["category.deleted", "auth.login_failed", "admin.key_revoked"]) {
      expect(await list({ action })).toEqual([]);
    }
  });
});

verifies("IN-56");
it("resourceId is refused where the platform does not announce it", async () => {
  const broker = scriptBroker({});
  const host = await connectModern(await createOptions(broker));
  const problem = readProblem(await host.call("audit_logs_list", { resourceId: "x" }));
  expect(problem.message).toContain("resourceId is not known to this platform");
  expect(broker.seen).toEqual([]);
});
