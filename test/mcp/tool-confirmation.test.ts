import { describe, expect, it } from "vitest";
import { findSideEffects, parsePathParameters } from "../../src/contract/operation.ts";
import { activeOperationTools } from "../../src/mcp/tools/listing/active-tools.ts";
import { readArguments } from "../../src/mcp/tools/arguments/arguments.ts";
import { toolsetNames } from "../../tools/toolsets.ts";
import { verifies } from "../support/verifies.ts";

const ASKING_CHANGES = [
  "documents_create",
  "documents_update",
  "disputes_apply",
  "disputes_open",
  "disputes_update",
  "documents_close",
  "accounts_replace",
  "documents_replace",
  "webhooks_create",
];
const tools = activeOperationTools({ toolsets: toolsetNames, readOnly: false });

describe("confirmation", () => {
  const asking = tools.filter(({ confirm }) => confirm !== undefined);

  verifies("C-84");
  it("is required to delete, replace or close, and for disputes_update that closes or cancels", () => {
    const deleting = tools.filter(({ operation }) => operation.method === "DELETE");
    expect(asking.map(({ name }) => name).toSorted()).toEqual(
      [...deleting.map(({ name }) => name), ...ASKING_CHANGES].toSorted(),
    );
    const update = tools.find(({ name }) => name === "disputes_update");
    const question = (status: unknown) =>
      update?.confirm?.question({ disputeId: "d-1", status }, {});
    expect(question(1)).toBe(
      'Close dispute "d-1", without a resolution: it will count as not valid?',
    );
    expect(question(2)).toBe('Cancel dispute "d-1"?');
  });

  verifies("C-93", "IN-55");
  it.each(["documents_create", "documents_update", "documents_replace"])(
    "%s asks when the balance is 0, in every notation of 0",
    (name) => {
      const tool = tools.find((one) => one.name === name);
      if (tool === undefined) throw new Error(`no tool ${name}`);
      const base = {
        document_number: "D",
        account_number: "A",
        invoice_date: "2026-01-01",
        due_date: "2026-02-01",
      };
      const closes = (more: Record<string, unknown>) =>
        findSideEffects(tool.operation, readArguments(tool, { ...base, ...more }).args).some(
          ({ kind }) => kind === "closes",
        );
      for (const field of ["denomination", "denomination_in_base_currency"]) {
        for (const amount of [0, -0, 0.0, "0", "0.00", "-0", "0e5", "1e-400"]) {
          expect([field, amount, closes({ [field]: amount })]).toEqual([field, amount, true]);
        }
        expect(closes({ [field]: 0.01 })).toBe(false);
      }
      expect(closes({ denomination_in_original_currency: 0 })).toBe(false);
    },
  );

  it("is not required for other changes by disputes_update", () => {
    const update = tools.find(({ name }) => name === "disputes_update");
    const kinds = (status: unknown) =>
      update && findSideEffects(update.operation, { status }).map(({ kind }) => kind);
    expect([0, 1, 2, undefined].map(kinds)).toEqual([[], ["closes"], ["cancels"], []]);
  });

  it("names every argument value in the question", () => {
    for (const { operation, confirm, name } of asking) {
      if (operation.method !== "DELETE") continue;
      const keys = Object.keys(operation.params.shape).filter((key) => key !== "tenantId");
      const args = Object.fromEntries(keys.map((key) => [key, `value-of-${key}`]));
      for (const key of keys)
        expect(confirm?.question(args, {}), name).toContain(`value-of-${key}`);
    }
    const update = tools.find((tool) => tool.name === "disputes_update");
    const full = { disputeId: "d", status: 1, resolutionCode: "CREDIT", amount: 5, poNumber: "" };
    expect(update?.confirm?.question(full, {})).toBe(
      'Close dispute "d", as CREDIT, with amount 5, poNumber cleared?',
    );
  });

  it("reads records by path arguments of the tool", () => {
    for (const { confirm, operation, name } of asking) {
      for (const reading of Object.values(confirm?.reads ?? {})) {
        const read = "path" in reading ? reading : reading.operation;
        expect(read.effect, name).toBe("read");
        if (!("path" in reading)) continue;
        const has = Object.keys(operation.params.shape);
        expect(has, name).toEqual(expect.arrayContaining(parsePathParameters(read.path)));
      }
    }
  });

  it("escapes values in the question", () => {
    const first = asking.find(({ name }) => name === "disputes_update");
    const args = { disputeId: `x"\n${"y".repeat(500)}` };
    const question = first?.confirm?.question({ ...args, status: 1 }, {});
    expect(question?.length).toBeLessThan(200);
    expect(question).not.toContain("\n");
  });
});
