import { STATUS_TITLES, type StatusType } from "../../contract/operations/credit-applications.ts";
import { toApplicationRow, type WholeApplication } from "../services/credit-applications/record.ts";
import type { CreditApplicationRow } from "../store/tables/schema.ts";
import { type DemoData, deriveId } from "./data.ts";

type Answers = Readonly<Record<string, unknown>>;

type Reference = {
  name: string;
  email: string;
  created: string;
  submitted?: string;
  answers?: Answers;
};

type Given = Omit<
  WholeApplication,
  "applicationId" | "applicationStatus" | "applicationForm" | "references"
> & {
  status: StatusType;
  statusDate: string;
  answers: Answers;
  tradeReferences: Reference[];
  bankReferences: Reference[];
};

/** The form that buyers fill in, and the section for each kind of reference; ids are `?`. */
type Templates = Record<"form" | "trade" | "bank", object>;

const withAnswer = (field: Record<string, unknown>, answer: unknown): object => {
  const { allowAdditionalAnswers: many, required } = field;
  const given = Array.isArray(answer) ? answer : [answer].filter((one) => one !== undefined);
  const open = required === true && given.length === 0;
  return {
    ...field,
    answerDetails: open
      ? [{ answer: null, index: 0, updated: null }]
      : given.map((one, index) => ({ answer: one, index, updated: true })),
    value: many === true ? null : (given[0] ?? null),
    values: many === true ? given : [],
  };
};

/** Fills a template in: each `?` becomes an id, each field gets its answer by its name. */
const fillTemplate = (template: object, name: string, answers: Answers = {}): unknown => {
  let ids = 0;
  const fill = (value: unknown): unknown => {
    if (value === "?") return deriveId(`${name}/${(ids += 1)}`);
    if (Array.isArray(value)) return value.map(fill);
    if (typeof value !== "object" || value === null) return value;
    const copy: Record<string, unknown> = {};
    for (const [key, member] of Object.entries(value)) copy[key] = fill(member);
    return "fieldType" in copy ? withAnswer(copy, answers[String(copy["displayName"])]) : copy;
  };
  return fill(template);
};

const buildApplication = (templates: Templates, one: Given, place: number): WholeApplication => {
  const name = `#application/${place}`;
  const { status, statusDate, answers, tradeReferences, bankReferences, ...rest } = one;
  const reference = (kind: "trade" | "bank") => (given: Reference, index: number) => ({
    [`${kind}ReferenceId`]: deriveId(`${name}/${kind}/${index}`),
    createdDate: given.created,
    referenceName: given.name,
    referenceEmailAddress: given.email,
    sectionList: [fillTemplate(templates[kind], `${name}/${kind}/${index}/field`, given.answers)],
    submitted: given.submitted !== undefined,
    submitDate: given.submitted ?? null,
  });
  const form = fillTemplate(templates.form, `${name}/form`, answers) as NonNullable<
    WholeApplication["applicationForm"]
  >;
  return {
    ...rest,
    applicationId: deriveId(name),
    applicationStatus: { type: status, statusDate, title: STATUS_TITLES[status] },
    applicationForm: { ...form, businessUnitIdList: one.businessUnitsIds },
    tradeReferences: tradeReferences.map(reference("trade")) as never[],
    bankReferences: bankReferences.map(reference("bank")) as never[],
    references: null,
  };
};

export const buildCreditApplications = (
  data: DemoData,
  tenantId: string,
): CreditApplicationRow[] => {
  const templates = data.json("credit-form") as Templates;
  return data
    .records<Given>("credit-applications")
    .map((one, place) => toApplicationRow(tenantId, buildApplication(templates, one, place)));
};
