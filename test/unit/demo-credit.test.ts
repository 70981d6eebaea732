import { describe, expect, it } from "vitest";
import type { FormField } from "../../src/contract/credit-form.ts";
import { CompanyScore } from "../../src/contract/operations/company-scores.ts";
import {
  CreditApplication,
  CreditApplicationDetail,
  STATUS_TYPES,
} from "../../src/contract/operations/credit-applications.ts";
import { maskSensitiveAnswers } from "../../src/contract/sensitive-answers.ts";
import { DAY } from "../../src/kit/clock.ts";
import { createApplicationTarget } from "../../src/platform/import/credit-applications.ts";
import { demoAt } from "../support/demo.ts";

const NOW = Date.parse("2026-11-21T08:00:00Z");
const demo = await demoAt(NOW);
const { users } = demo;
const accounts = new Map(demo.accounts.map((row) => [row.account_number, row]));
const all = demo.credit_applications.map((row) => ({
  row,
  summary: CreditApplication.parse(JSON.parse(row.summary)),
  detail: CreditApplicationDetail.parse(JSON.parse(row.detail)),
}));
type Application = (typeof all)[number];

const fieldsOf = ({ detail }: Application): FormField[] =>
  (detail.applicationForm?.formType ?? []).flatMap(({ sectionList }) =>
    sectionList.flatMap(({ fieldsList }) => fieldsList),
  );

const inOrder = (...moments: (string | null)[]): void => {
  const known = moments.filter((moment) => moment !== null);
  expect(known).toEqual(known.toSorted());
};

describe("the demo tenant's credit applications", () => {
  it("are sixty, in every status", () => {
    expect(all).toHaveLength(60);
    expect(new Set(all.map(({ row }) => row.id)).size).toBe(60);
    expect(new Set(all.map(({ row }) => row.status_type))).toEqual(new Set(STATUS_TYPES));
  });

  it("obey every rule of an import, also those of answers", () => {
    const { parse } = createApplicationTarget({ tenantId: "demo", clock: () => 0 });
    for (const { summary, detail } of all) {
      const { autoDecisioned, references } = summary;
      const company = { ...detail.company, dba: summary.company.dba };
      const { faults } = parse({ ...detail, company, autoDecisioned, references });
      expect(faults).toBeUndefined();
    }
  });

  it("belong to different accounts, with their names and addresses", () => {
    expect(new Set(all.map(({ summary }) => summary.company.companyId)).size).toBe(60);
    for (const { summary, detail } of all) {
      const account = accounts.get(`C-${summary.company.companyId}`);
      expect(account?.name).toBe(summary.company.name);
      const { billing_address: address } = JSON.parse(account?.fields ?? "{}");
      expect(detail.company.address).toMatchObject({
        address1: address.address1,
        city: address.city,
        country: { isoCountryCode: address.country },
      });
      const { state } = detail.company.address ?? {};
      expect(state?.code).toBe(address.state);
      if (state != null) expect(state.name).toMatch(/^[A-Z][a-z]{2}/);
      const parent = account?.parent_account_number;
      expect(detail.company.headCompanyId).toBe(
        parent == null ? null : Number(parent.replace("C-", "")),
      );
    }
  });

  it("refer to existing values of business units and existing users", () => {
    const values = demo.business_units.flatMap(({ value_list }) =>
      JSON.parse(value_list).map((value: { businessUnitsValuesId: string }) => value),
    );
    const known = new Set(values.map((value) => value.businessUnitsValuesId));
    expect(known.size).toBe(8);
    for (const { row, detail } of all) {
      const named: string[] = JSON.parse(row.unit_ids);
      expect(named).toHaveLength(2);
      for (const id of named) expect(known).toContain(id);
      for (const user of detail.applicationUsers) {
        expect(users.get(user.userEmailAddress ?? "")).toBe(user.userId);
      }
    }
  });

  it("have their dates in order, none in the future", () => {
    for (const { row, detail } of all) {
      const { applicationDate, applicantAccessDate, applicantSubmitDate } = detail;
      inOrder(applicationDate, applicantAccessDate, applicantSubmitDate);
      inOrder(applicationDate, detail.applicationStatus.statusDate, detail.lastActivityDate);
      inOrder(applicantSubmitDate, detail.applicationStatus.statusDate);
      inOrder(applicationDate, detail.lastReminderDate, detail.lastActivityDate);
      expect(row.activity_at).toBeLessThan(NOW);
      expect(row.status_at).toBe(Date.parse(detail.applicationStatus.statusDate));
    }
  });

  it("have references of the named bank, and an approver if a person has decided", () => {
    for (const application of all) {
      const { detail, summary, row } = application;
      const bank = fieldsOf(application).find(({ displayName }) => displayName === "Bank");
      for (const { referenceName } of detail.bankReferences) {
        expect(bank?.value).toBe(referenceName);
      }
      const isDecided = /Approved|Declined/.test(row.status_type);
      const types = detail.applicationUsers.map(({ userType }) => userType);
      expect(types.includes("APPROVER")).toBe(isDecided && !summary.autoDecisioned);
    }
  });

  it("have answers according to their status", () => {
    for (const application of all) {
      const { detail, summary, row } = application;
      const required = fieldsOf(application).filter((field) => field.required);
      const answered = required.filter(({ answerDetails }) => answerDetails[0]?.answer !== null);
      expect(required.length).toBeGreaterThan(9);
      if (detail.applicantSubmitDate !== null) expect(answered).toEqual(required);
      if (row.status_type === "Initiated") expect(answered).toEqual([]);
      if (row.status_type === "In Progress") {
        expect(answered.length).toBeGreaterThan(2);
        expect(answered.length).toBeLessThan(required.length);
      }
      const decided = /Approved|Declined/.test(row.status_type);
      expect(detail.companyScore !== null).toBe(decided);
      if (row.status_type === "Closed - Declined") {
        expect(detail.companyScore?.assignedCreditLine).toBe(0);
      }
      expect(detail.tradeReferences.length > 1).toBe(detail.applicantSubmitDate !== null);
      expect(summary.references.tradeRefReferenceRequestedCount).toBe(
        String(detail.tradeReferences.length),
      );
    }
    expect(all.some(({ summary }) => summary.autoDecisioned)).toBe(true);
  });

  it("have sensitive answers, and parts that are not in use any more", () => {
    const masked = all.map(({ detail }) => maskSensitiveAnswers(detail));
    const shown = JSON.stringify(masked);
    for (const application of all.filter(({ detail }) => detail.applicantSubmitDate !== null)) {
      for (const name of ["Federal tax ID", "Account number"]) {
        const field = fieldsOf(application).find((one) => one.displayName === name);
        const [answer] = field?.answerDetails ?? [];
        expect(String(answer?.answer)).toMatch(/^[\d-]{9,}$/);
        expect(shown).not.toContain(String(answer?.answer));
      }
    }
    const [first] = all;
    const parts = first === undefined ? [] : fieldsOf(first);
    expect(parts.some(({ status }) => status === "Disabled")).toBe(true);
    expect(parts.some(({ secondaryFields }) => secondaryFields.length > 0)).toBe(true);
    expect(parts.some(({ fieldsSet }) => fieldsSet.length > 0)).toBe(true);
  });

  it("are the same a week later, each a week later", async () => {
    const story = (rows: typeof demo, shift: number) =>
      rows.credit_applications.map(({ id, status_type, status_at }) => [
        id,
        status_type,
        status_at - shift,
      ]);
    expect(story(await demoAt(NOW + 7 * DAY), 7 * DAY)).toEqual(story(demo, 0));
  });
});

describe("the demo tenant's company scores", () => {
  it("exist for every account's company, once a quarter, with values in their range", () => {
    expect(new Set(demo.company_scores.map(({ company_id }) => `C-${company_id}`))).toEqual(
      new Set(accounts.keys()),
    );
    const keys = demo.company_scores.map(({ company_id, as_of }) => `${company_id} ${as_of}`);
    expect(new Set(keys).size).toBe(keys.length);
    for (const { fields, as_of } of demo.company_scores) {
      const { fibs, dibs } = CompanyScore.parse(JSON.parse(fields));
      expect(as_of).toBeLessThan(NOW);
      for (const value of [...Object.values(fibs), ...Object.values(dibs)]) {
        expect(value).toBeGreaterThanOrEqual(0);
        expect(value).toBeLessThanOrEqual(100);
      }
    }
  });
});
