import { z } from "zod";
import type { FormField, FormSection } from "../../../contract/credit-form.ts";
import {
  CreditApplication,
  CreditApplicationDetail,
  ReferenceCounts,
} from "../../../contract/operations/credit-applications.ts";
import type { CreditApplicationRow } from "../../store/tables/schema.ts";

const { company } = CreditApplicationDetail.shape;

/** A stored credit application: its detail and the fields that only its summary has. */
export const WholeApplication = z.object({
  ...CreditApplicationDetail.shape,
  company: company.extend({ dba: CreditApplication.shape.company.shape.dba }),
  autoDecisioned: z.boolean(),
  /** Counted where it is null. */
  references: ReferenceCounts.nullable(),
});
export type WholeApplication = z.infer<typeof WholeApplication>;

type Reference = { submitted: boolean };

const countSubmitted = (references: readonly Reference[]): string =>
  String(references.filter((reference) => reference.submitted).length);

const countReferences = ({
  bankReferences,
  tradeReferences,
}: WholeApplication): CreditApplication["references"] => ({
  bankReferenceSubmitCount: countSubmitted(bankReferences),
  bankReferenceRequestedCount: String(bankReferences.length),
  tradeReferenceSubmitCount: countSubmitted(tradeReferences),
  tradeRefReferenceRequestedCount: String(tradeReferences.length),
});

const toSummary = (whole: WholeApplication): CreditApplication => {
  const { companyId, name, dba, address } = whole.company;
  return {
    applicationId: whole.applicationId,
    applicationDate: whole.applicationDate,
    applicationStatus: whole.applicationStatus,
    businessUnitIdList: whole.businessUnitsIds,
    company: { companyId, name, dba, address },
    contact: whole.contact,
    autoDecisioned: whole.autoDecisioned,
    applicantSubmitDate: whole.applicantSubmitDate,
    references: whole.references ?? countReferences(whole),
    lastActivityDate: whole.lastActivityDate,
  };
};

const toDetail = (whole: WholeApplication): CreditApplicationDetail => {
  const { autoDecisioned: _decided, references: _counts, company: all, ...detail } = whole;
  const { dba: _name, ...buyer } = all;
  return { ...detail, company: buyer };
};

type Unit = { businessUnitIdList: string[] };

const listFieldParts = (field: FormField): Unit[] => {
  const { secondaryFields, fieldsSet } = field;
  return [
    field,
    ...fieldsSet,
    ...secondaryFields.flatMap((secondary) => [secondary, ...secondary.fieldsSet]),
  ];
};

const listSectionParts = (section: FormSection): Unit[] => [
  section,
  ...section.fieldsList.flatMap(listFieldParts),
];

/** Returns the distinct business unit values that the application names. */
export const listUnitIds = (whole: WholeApplication): string[] => {
  const { applicationForm: form, tradeReferences, bankReferences } = whole;
  const lists = [...(form?.formType ?? []), ...tradeReferences, ...bankReferences];
  const parts: Unit[] = [
    { businessUnitIdList: whole.businessUnitsIds },
    ...(form === null ? [] : [form]),
    ...lists.flatMap(({ sectionList }) => sectionList.flatMap(listSectionParts)),
  ];
  return [...new Set(parts.flatMap((part) => part.businessUnitIdList))].toSorted();
};

/** Converts an application to a row. */
export const toApplicationRow = (
  tenantId: string,
  whole: WholeApplication,
): CreditApplicationRow => ({
  tenant_id: tenantId,
  id: whole.applicationId,
  status_type: whole.applicationStatus.type,
  status_at: Date.parse(whole.applicationStatus.statusDate),
  activity_at: Date.parse(whole.lastActivityDate),
  unit_ids: JSON.stringify(listUnitIds(whole)),
  summary: JSON.stringify(toSummary(whole)),
  detail: JSON.stringify(toDetail(whole)),
});
