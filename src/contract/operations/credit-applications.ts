import { z } from "zod";
import { boundFaults } from "../faults.ts";
import { ApplicationForm, BankReference, TradeReference } from "../credit-form.ts";
import { Amount, bodyPaging, RecordId, tenantPath, Timestamp } from "../fields.ts";
import { defineOperations } from "../operation.ts";
import { maskSensitiveAnswers } from "../sensitive-answers.ts";

/** The status types with their titles, in the order of the application process. */
export const STATUS_TITLES = {
  "Not Started": "Not Started",
  Initiated: "Initiated",
  "In Progress": "In Progress",
  Submitted: "Submitted",
  "Under Review": "In Review",
  "Pending Information": "Pending Info",
  "Closed - Approved": "Approved",
  "Closed - Declined": "Declined",
  "Closed - Withdrawn": "Withdrawn",
  "Closed - Expired": "Expired",
} as const;
export type StatusType = keyof typeof STATUS_TITLES;

export const STATUS_TYPES = Object.keys(STATUS_TITLES) as StatusType[];
export const ACTIVITY_TYPES = ["APPLICATIONSTATUSDATE", "LASTMODIFIED"] as const;

const text = z.string().nullable();

export const ApplicationStatus = z.object({
  type: z.string(),
  statusDate: Timestamp,
  title: z.string(),
});

export const BuyerAddress = z.object({
  type: text,
  address1: text,
  address2: text,
  city: text,
  state: z.object({ code: text, name: text }).nullable(),
  postalCode: text,
  country: z.object({ name: text, isoCountryCode: text, iso3CountryCode: text }).nullable(),
});

export const ApplicationContact = z.object({ firstName: text, lastName: text, email: text });

export const ReferenceCounts = z.object({
  bankReferenceSubmitCount: z.string(),
  bankReferenceRequestedCount: z.string(),
  tradeReferenceSubmitCount: z.string(),
  // The spelling is that of the interface documents.
  tradeRefReferenceRequestedCount: z.string(),
});

const buyer = { companyId: z.int(), name: z.string() };
const where = { address: BuyerAddress.nullable() };

const common = {
  applicationId: z.string(),
  applicationDate: Timestamp,
  applicationStatus: ApplicationStatus,
};

/** A buyer's application for credit in lists. */
export const CreditApplication = z.object({
  ...common,
  businessUnitIdList: z.array(z.string()),
  company: z.object({ ...buyer, dba: text, ...where }),
  contact: ApplicationContact.nullable(),
  autoDecisioned: z.boolean(),
  applicantSubmitDate: Timestamp.nullable(),
  references: ReferenceCounts,
  lastActivityDate: Timestamp,
});
export type CreditApplication = z.infer<typeof CreditApplication>;

const number = Amount.nullable();

/** The company's scores at the time of the credit decision. */
export const DecisionScore = z.object({
  assignedCreditLine: number,
  dibs: number,
  dibsConfidence: number,
  fibs: number,
  fibsConfidence: number,
  calculatedCreditLine: number,
});

export const ApplicationUser = z.object({
  userType: z.string().meta({ description: "such as INITIATOR or REVIEWER" }),
  userId: text,
  userEmailAddress: text,
  userName: text,
  allowReassign: z.boolean(),
});

/** A buyer's application for credit with its forms, answers and references. */
export const CreditApplicationDetail = z.object({
  ...common,
  applicationForm: ApplicationForm.nullable(),
  businessUnitsIds: z.array(z.string()),
  company: z.object({
    ...buyer,
    headCompanyId: z.union([z.int(), z.string()]).nullable(),
    selectedCompanyId: text,
    ...where,
    phone: z.array(z.object({ type: text, number: text })),
  }),
  companyScore: DecisionScore.nullable(),
  contact: ApplicationContact.nullable(),
  applicantAccessDate: Timestamp.nullable().meta({ description: "first access by the buyer" }),
  tradeReferences: z.array(TradeReference),
  bankReferences: z.array(BankReference),
  applicationUsers: z.array(ApplicationUser),
  applicantSubmitDate: Timestamp.nullable(),
  lastReminderDate: Timestamp.nullable(),
  lastActivityDate: Timestamp,
});
export type CreditApplicationDetail = z.infer<typeof CreditApplicationDetail>;

const StatusCount = z.object({ type: z.string(), title: z.string(), noOfApplications: z.int() });

/** Applications, with the number per status in the same period. */
export const CreditApplications = z.object({
  applications: z.array(CreditApplication),
  applicationStatusSummary: z.array(StatusCount),
});
export type CreditApplications = z.infer<typeof CreditApplications>;

const describeDay = (words: string) => z.iso.date().meta({ description: `YYYY-MM-DD; ${words}` });

const CREDIT = "/api/v1/tenants/{tenantId}";
const LIST = `${CREDIT}/users/businessunits/creditapplications/status/list` as const;
const ONE = `${CREDIT}/creditapplications/{applicationId}` as const;

export const credit_applications = defineOperations("gateway", "credit_applications", {
  list: {
    method: "POST",
    effect: "read",
    path: `/creditappcore${LIST}`,
    aliases: [{ method: "POST", path: `/creditapp${LIST}` }],
    access: "Credit Applications : READ",
    summary: "List credit applications of a date range, with a count per status.",
    params: z.object(tenantPath),
    body: z
      .object({
        activityType: z.enum(ACTIVITY_TYPES).meta({
          description:
            "date to filter by: APPLICATIONSTATUSDATE (entered its status) or LASTMODIFIED",
        }),
        startDate: describeDay("UTC"),
        endDate: describeDay("inclusive"),
        applicationStatusType: z
          .array(boundFaults(z.enum(STATUS_TYPES)))
          .optional()
          .describe(`any of ${STATUS_TYPES.join(", ")}`),
        ...bodyPaging,
      })
      .refine(({ startDate, endDate }) => startDate <= endDate, {
        error: "must not be before startDate",
        path: ["endDate"],
        params: { code: "range" },
      }),
    output: CreditApplications,
    list: {
      style: "applications",
      defaultFields: ["applicationId", "applicationStatus", "company", "lastActivityDate"],
    },
    audit: "credit_application.listed",
  },
  get: {
    method: "GET",
    path: `/creditappcore${ONE}`,
    aliases: [{ method: "GET", path: `/creditapp${ONE}` }],
    access: "Credit Applications : READ",
    summary: "Read one credit application with its forms and answers.",
    params: z.object({ ...tenantPath, applicationId: RecordId.describe("from the list") }),
    output: CreditApplicationDetail,
    mask: maskSensitiveAnswers,
    audit: "credit_application.read",
  },
});
