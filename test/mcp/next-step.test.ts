import { describe, expect, it } from "vitest";
import { ERRORS } from "../../src/contract/errors.ts";
import { nextStep } from "../../src/mcp/results/next-step.ts";
import { OWN_CODES, type RefusalCode } from "../../src/mcp/results/refusal.ts";
import { activeOperationTools } from "../../src/mcp/tools/listing/active-tools.ts";
import { toolsetNames } from "../../tools/toolsets.ts";
import { verifies } from "../support/verifies.ts";

const tools = activeOperationTools({ toolsets: toolsetNames, readOnly: false });

describe("next steps", () => {
  const codes = [...Object.keys(ERRORS), ...Object.keys(OWN_CODES)] as RefusalCode[];

  verifies("C-78");
  it.each(codes)("exist for %s and every tool", (code) => {
    for (const tool of tools) expect(nextStep(code, tool, {})).toMatch(/^[A-Z].*[.]$/);
  });

  it("name the permission, the time to wait, and the next tool", () => {
    const tool = tools.find(({ name }) => name === "disputes_get");
    if (tool === undefined) throw new Error("no disputes_get");
    expect(nextStep("forbidden_permission", tool, {})).toContain('"Dispute Management : READ"');
    expect(nextStep("rate_limited", tool, { retryAfterSeconds: 7 })).toContain("7 seconds");
    expect(nextStep("not_found", tool, {})).toContain("disputes_list");
  });

  it("name the settings instead of doctor where a credential is missing and none is wrong", () => {
    const [tool] = tools;
    if (tool === undefined) throw new Error("no tool");
    expect(nextStep("unauthenticated", tool, {})).toContain("doctor");
    const missing = nextStep("unauthenticated", tool, { unconfigured: true });
    expect(missing).toContain("settings the message names");
    expect(missing).not.toMatch(/doctor|renew/);
  });

  it("explain how to find an id from a code", () => {
    const tool = tools.find(({ name }) => name === "dispute_notes_list");
    if (tool === undefined) throw new Error("no dispute_notes_list");
    const step = nextStep("not_found", tool, {}, { disputeId: 'D-INV-"7"-01' });
    expect(step).toContain('disputes_list with DocumentNumber "INV-\\"7\\""');
    expect(nextStep("not_found", tool, {}, { disputeId: "7f0d" })).toBe("Check the identifiers.");
  });

  it.each([
    ["dispute_notes_get", "dispute_notes_list"],
    ["dispute_notes_delete", "dispute_notes_list"],
    ["dispute_attachments_get", "dispute_attachments_list"],
    ["dispute_attachments_delete", "dispute_attachments_list"],
    ["dispute_attachments_download", "dispute_attachments_list"],
  ])("do not doubt the dispute where %s finds no record of it", (name, list) => {
    const tool = tools.find((one) => one.name === name) ?? null;
    expect(nextStep("not_found", tool, {}, { disputeId: "D-7-01" })).toBe(
      `Check the identifiers; ${list} shows what exists.`,
    );
  });

  it("settle a conflict as its message says before the record is read again", () => {
    const tool = tools.find(({ name }) => name === "disputes_update") ?? null;
    expect(nextStep("conflict", tool, {})).toBe(
      "Settle what is named, or read the record again with disputes_get and decide again.",
    );
  });

  it.each([
    ["assigneeEmail", "assignees_list"],
    ["externalReasonCode", "reasons_list"],
    ["resolutionId", "resolutions_list"],
    ["scheduleId", "schedules_list"],
  ])("name the tool that lists the values of %s", (field, list) => {
    const [tool] = tools;
    if (tool === undefined) throw new Error("no tool");
    const errors = [{ field, code: "unknown_reference", message: "names none" }];
    expect(nextStep("invalid_request", tool, { errors })).toContain(list);
    const other = [{ field, code: "required", message: "is required" }];
    expect(nextStep("invalid_request", tool, { errors: other })).not.toContain(list);
  });
});
