import type { Store } from "../../src/platform/store/port.ts";
import { importCredit } from "./importing.ts";

type Fields = Record<string, unknown>;

/** A text field of a form, answered once. */
export const field = (fieldsId: string, more: Fields = {}): Fields => ({
  fieldsId,
  position: 1,
  displayName: `Field ${fieldsId}`,
  fieldType: { fieldTypesId: "text", displayName: "Text" },
  required: true,
  allowAdditionalAnswers: false,
  answerDetails: [{ answer: `answer of ${fieldsId}`, index: 0, updated: false }],
  value: null,
  values: [],
  hasSecondaryQuestions: false,
  secondaryFields: [],
  fieldsSet: [],
  status: "Active",
  businessUnitIdList: [],
  ...more,
});

export const section = (sectionId: string, fieldsList: Fields[], more: Fields = {}): Fields => ({
  sectionId,
  position: 1,
  displayName: `Section ${sectionId}`,
  status: "Active",
  businessUnitIdList: [],
  fieldsList,
  ...more,
});

export const formType = (
  displayName: string,
  sectionList: Fields[],
  more: Fields = {},
): Fields => ({
  formTypesId: displayName,
  displayName,
  sectionList,
  status: "Active",
  ...more,
});

export const form = (...formTypes: Fields[]): Fields => ({
  formId: "form-1",
  formName: "Application for credit",
  formType: formTypes,
  businessUnitIdList: [],
});

export const COMPANY = {
  companyId: 4711,
  headCompanyId: 4700,
  selectedCompanyId: "D-4711",
  name: "Juniper Street Hardware",
  dba: "Juniper",
  address: {
    type: "BILLING",
    address1: "1 Juniper Street",
    address2: null,
    city: "Portland",
    state: { code: "OR", name: "Oregon" },
    postalCode: "97201",
    country: { name: "United States", isoCountryCode: "US", iso3CountryCode: "USA" },
  },
  phone: [{ type: "OFFICE", number: "+1 503 555 0100" }],
};

/** A whole credit application as files have it. */
export const application = (applicationId: string, more: Fields = {}): Fields => ({
  applicationId,
  applicationDate: "2026-01-05T09:00:00.000Z",
  applicationStatus: {
    type: "Under Review",
    statusDate: "2026-01-10T12:00:00.000Z",
    title: "In Review",
  },
  applicationForm: form(
    formType("Internal Form", [section("sales", [field("territory")])]),
    formType("External Form", [section("about", [field("legal-name")])]),
  ),
  businessUnitsIds: [],
  company: COMPANY,
  companyScore: null,
  contact: { firstName: "Ana", lastName: "Silva", email: "ana@juniper.example" },
  applicantAccessDate: "2026-01-06T08:00:00.000Z",
  tradeReferences: [],
  bankReferences: [],
  applicationUsers: [
    {
      userType: "INITIATOR",
      userId: "user-1",
      userEmailAddress: "rep@sales.example",
      userName: "Rep One",
      allowReassign: true,
    },
  ],
  applicantSubmitDate: "2026-01-09T08:00:00.000Z",
  lastReminderDate: null,
  lastActivityDate: "2026-01-11T12:00:00.000Z",
  autoDecisioned: false,
  references: {
    bankReferenceSubmitCount: "0",
    bankReferenceRequestedCount: "1",
    tradeReferenceSubmitCount: "1",
    tradeRefReferenceRequestedCount: "2",
  },
  ...more,
});

export const grouping = (businessUnitsId: string, ...valueIds: string[]): Fields => ({
  businessUnitsId,
  displayName: `Grouping ${businessUnitsId}`,
  businessUnitsValuesList: valueIds.map((id) => ({
    businessUnitsValuesId: id,
    displayName: `Unit ${id}`,
  })),
});

export const score = (companyId: number | string, asOf: string, more: Fields = {}): Fields => ({
  companyId,
  asOf,
  fibs: { fibs_score: 71, fibs_confidence: 90 },
  dibs: { dibs_score: 64.5, dibs_confidence: 88 },
  creditLimit: 250_000.5,
  bankruptcyFlag: 0,
  outOfBusinessFlag: 0,
  ...more,
});

export type CreditRecords = {
  application: { applicationId: string };
  company: { companyId: string };
};

/** A grouping, an application and a company's score, with a text of the tenant's own in each. */
export const seedCredit = async (
  store: Store,
  tenantId: string,
  { mark, text }: { mark: string; text: string },
): Promise<CreditRecords> => {
  const companyId = 1000 + Number(mark.replace(/\D/g, ""));
  const applicationId = `APP-${mark}`;
  const unitId = `UNIT-${mark}`;
  const named = { ...COMPANY, companyId, name: text };
  const load = async (kind: Parameters<typeof importCredit>[2], record: Fields) => {
    const { rejects } = await importCredit({ store }, tenantId, kind, [record]);
    if (rejects.length > 0) throw new Error(JSON.stringify(rejects));
  };
  await load("business-units", { ...grouping(`GROUP-${mark}`, unitId), displayName: text });
  await load(
    "credit-applications",
    application(applicationId, { company: named, businessUnitsIds: [unitId] }),
  );
  await load("scores", score(companyId, "2026-01-01"));
  return { application: { applicationId }, company: { companyId: String(companyId) } };
};
