import { describe, expect, it } from "vitest";
import { activeTools } from "../../src/mcp/tools/listing/active-tools.ts";
import { inputSchema, type JsonSchema, ownShape } from "../../src/mcp/tools/listing/schemas.ts";
import { isOperationTool, type OperationTool } from "../../tools/tool.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";
import { ALL, readProblem, readText } from "./hosts.ts";
import { askAt } from "./insight-host.ts";

const updates: [string, OperationTool][] = activeTools(ALL)
  .filter((tool) => isOperationTool(tool))
  .filter(({ operation }) => operation.updates)
  .map((tool) => [tool.name, tool]);

/** Arguments for which null is the same as none: the operation takes both for hosts that send every argument. */
const NOT_CLEARED: Readonly<Record<string, readonly string[]>> = {
  assignees_update: ["departmentId", "departmentCode"],
  disputes_update: [
    "reasonId",
    "reasonCode",
    "externalReasonCode",
    "categoryId",
    "categoryCode",
    "resolutionId",
    "resolutionCode",
    // An empty text clears these.
    "assigneeId",
    "assigneeEmail",
  ],
  reasons_update: ["categoryId", "categoryCode"],
};

const takesNull = ({ type }: JsonSchema = {}): boolean => [type].flat().includes("null");

describe("a host that sends only what a schema admits", () => {
  verifies("HS-05");
  it.each(updates)("can empty with %s what the operation can", (name, tool) => {
    const { properties } = inputSchema(tool);
    const nullable = Object.entries(ownShape(tool.operation))
      .filter(([field]) => Object.hasOwn(properties, field))
      .filter(([, schema]) => schema.safeParse(null).success)
      .map(([field]) => field);
    const published = nullable.filter((field) => takesNull(properties[field]));
    const cleared = "clear" in properties ? nullable : published;
    expect(cleared.toSorted()).toEqual(
      nullable.filter((field) => NOT_CLEARED[name]?.includes(field) !== true).toSorted(),
    );
    // Null that the operation refuses is not published.
    const refused = Object.keys(properties).filter((field) => !nullable.includes(field));
    expect(refused.filter((field) => takesNull(properties[field]))).toEqual([]);
  });
});

onEveryStore("clear", (at) => {
  const asking = askAt(at, "clearing");

  const call = async (tool: string, args: Record<string, unknown>) => {
    const result = await asking().host.call(tool, args);
    expect(result.isError ?? false, readText(result)).toBe(false);
    return result.structuredContent ?? {};
  };

  verifies("HS-05");
  it("empties fields of accounts and documents, of every type and in every spelling", async () => {
    const account = { account_number: "ACC-9", name: "Acme", currency: "USD", description: "old" };
    await call("accounts_create", { ...account, billing_address: { city: "Oslo" } });
    const cleared = await call("accounts_update", {
      account_number: "ACC-9",
      clear: ["description", "billingAddress"],
    });
    expect(cleared).not.toHaveProperty("description");
    expect(cleared).not.toHaveProperty("billing_address");
    expect(cleared).toMatchObject({ name: "Acme" });
    const days = { invoice_date: "2026-01-05", due_date: "2026-02-05" };
    await call("documents_create", {
      ...days,
      document_number: "INV-9",
      account_number: "ACC-9",
      po_number: "4711",
      tax_amount: 5,
      comment: "old",
      currency: "USD",
      denomination: 100,
      custom_fields: { collections: { region: { type: "text", value: "West" } } },
      line_items: [{ line_number: 1, amount: 100 }],
    });
    const changed = await call("documents_update", {
      document_number: "INV-9",
      comment: "new",
      clear: ["po_number", "TaxAmount", "custom_fields", "lineItems"],
    });
    for (const field of ["po_number", "tax_amount", "custom_fields", "line_items"]) {
      expect(changed[field] ?? null, field).toBeNull();
    }
    expect(changed).toMatchObject({ comment: "new", denomination: 100 });
  });

  verifies("HS-05");
  it("is refused for fields that cannot be empty, are unknown, or have a value", async () => {
    const args = { document_number: "INV-9", po_number: "1" };
    const clear = ["due_date", "purchase_order", "po_number"];
    const refused = await asking().host.call("documents_update", { ...args, clear });
    const { code, fields } = readProblem(refused);
    expect(code).toBe("invalid_request");
    expect(fields).toMatchObject([
      { field: "clear[0]", message: expect.stringContaining('"due_date" is not a field') },
      { field: "clear[1]", message: expect.stringContaining('"purchase_order" is not a field') },
      { field: "clear[2]", message: expect.stringContaining('"po_number" is sent with a value') },
    ]);
  });
});
