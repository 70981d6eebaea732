import { z } from "zod";
import { configurationOf } from "../configuration.ts";
import {
  alternative,
  auditFields,
  CodeText,
  Email,
  Name,
  RecordId,
  requiredText,
  requiredUnless,
  tenantPath,
} from "../fields.ts";
import { defineOperations } from "../operation.ts";

const Address = z.object({
  address1: z.string().nullable(),
  address2: z.string().nullable(),
  city: z.string().nullable(),
  state: z.string().nullable(),
  zip: z.string().nullable(),
  country: z.string().nullable(),
});

const Person = z.object({
  firstName: z.string(),
  lastName: z.string(),
  email: z.string(),
  officePhone: z.string().nullable(),
  cellPhone: z.string().nullable(),
  fax: z.string().nullable(),
  title: z.string().nullable(),
  language: z.string().nullable(),
  timezone: z.string().nullable(),
  address: Address,
});

/** A person who works disputes; belongs to a department. */
export const Assignee = z.object({
  id: z.string(),
  assigneeId: z.string(),
  departmentId: z.string(),
  active: z.boolean(),
  tenantId: z.string(),
  userId: z.string().nullable(),
  allUpdates: z.boolean(),
  dailyDigest: z.boolean(),
  person: Person,
  ...auditFields,
});
export type Assignee = z.infer<typeof Assignee>;

const name = Name.nullable().optional();
const AddressInput = z.object({
  address1: name.describe("street"),
  address2: name.describe("unit or floor"),
  city: name.describe("town"),
  state: name.describe("or province"),
  zip: name.describe("postal code"),
  country: name.describe("such as US"),
});

// The interface spells timeZone in requests and timezone in responses; requests may use both.
const PersonInput = z.object({
  firstName: requiredText(200).optional().describe("given name"),
  lastName: requiredText(200).optional().describe("family name"),
  email: Email.optional().describe("identifies the assignee"),
  officePhone: name.describe("in any form"),
  cellPhone: name.describe("mobile phone"),
  fax: name.describe("in any form"),
  title: name.describe("job title"),
  language: name.describe("such as en"),
  timeZone: name.describe("such as Europe/Berlin"),
  timezone: name.describe("such as Europe/Berlin"),
  address: AddressInput.nullable().optional().describe("of the office"),
});
export type PersonInput = z.infer<typeof PersonInput>;

const createBody = (user: string) =>
  z
    .object({
      departmentId: alternative(RecordId).describe("or departmentCode"),
      departmentCode: alternative(CodeText).describe("or departmentId"),
      active: z.boolean().optional().describe("may get disputes"),
      userId: RecordId.nullable().optional().meta({ description: user }),
      allUpdates: z.boolean().optional().describe("e-mail each change"),
      dailyDigest: z.boolean().optional().describe("e-mail daily"),
      person: PersonInput.optional().describe("names, address, phones"),
    })
    .refine(
      (value) => value.departmentId !== undefined || value.departmentCode !== undefined,
      requiredUnless("departmentId", "departmentCode"),
    );

const AssigneeEmail = Email.describe("identifies the assignee");

const byEmail = z.object({ ...tenantPath, assigneeEmail: AssigneeEmail });

const TENANT = "/dispute/v1/tenants/{tenantId}";

const assignee = configurationOf("assignee");

export const assignees = defineOperations("gateway", "assignees", {
  get: {
    ...assignee.read,
    path: `${TENANT}/assignees/by-email/{assigneeEmail}`,
    summary: "Read one assignee by e-mail address.",
    params: byEmail,
    output: Assignee,
  },
  get_by_id: {
    ...assignee.read,
    path: `${TENANT}/assignees/{assigneeId}`,
    summary: "Read one assignee by id.",
    params: z.object({ ...tenantPath, assigneeId: RecordId }),
    output: Assignee,
    extension: true,
  },
  list: {
    ...assignee.list,
    path: `${TENANT}/assignees`,
    summary: "List the people who work disputes.",
    query: z.strictObject({ DepartmentId: RecordId.optional().describe("absent: of all") }),
    output: z.array(Assignee),
  },
  create: {
    ...assignee.create,
    path: `${TENANT}/assignees`,
    summary:
      "Add an assignee to a department; person requires names and e-mail unless userId is given.",
    body: createBody("user id; fills person"),
    output: Assignee,
    errors: ["conflict"],
  },
  update: {
    ...assignee.update,
    path: `${TENANT}/assignees/by-email/{assigneeEmail}`,
    summary: "Update an assignee; the department is required, and another one moves the assignee.",
    params: byEmail,
    body: createBody("user id; null clears"),
    output: Assignee,
    errors: ["conflict"],
  },
  delete: {
    ...assignee.delete,
    path: `${TENANT}/assignees/{assigneeId}`,
    summary: "Delete an unused assignee by id.",
    params: z.object({ ...tenantPath, assigneeId: RecordId }),
  },
  delete_by_email: {
    ...assignee.delete,
    path: `${TENANT}/departments/by-code/{departmentCode}/assignees/by-email/{assigneeEmail}`,
    summary: "Delete an unused assignee by department code and e-mail address.",
    params: z.object({ ...tenantPath, departmentCode: CodeText, assigneeEmail: AssigneeEmail }),
  },
});
