import { AUTHOR_ADDITIONS, AUTHOR_QUERY } from "./account-notes.ts";
import { z } from "zod";
import { Email, Pagination, requiredText, text, Timestamp } from "../fields.ts";
import {
  Address,
  AnyObject,
  clearable,
  CurrencyCode,
  CustomFields,
  IngestAmount,
  IngestNumber,
  LanguageCode,
  NoteAuthor,
  optional,
  pages,
  SearchText,
} from "../ingest-fields.ts";
import { defineOperations, type Outcome } from "../operation.ts";

const requiredFields = { name: requiredText(200).describe("of the customer") };

const optionalFields = {
  display_reference: text(128).describe("short name"),
  currency: CurrencyCode.meta({ description: "such as USD; cannot change once set" }),
  language: LanguageCode,
  billing_address: Address.describe("where invoices go"),
  remit_to: Address.describe("where payments go"),
  phone: text(200).describe("in any form"),
  mobile_phone: text(200).describe("in any form"),
  fax: text(200).describe("in any form"),
  email: Email.describe("for invoices and questions"),
  payment_terms: text(200).describe("such as NET30"),
  credit_limit: IngestAmount.describe("most that the customer may owe"),
  account_group: text(200).describe("of similar customers"),
  parent_account_number: IngestNumber.describe("of the account above"),
  is_parent_account: z.boolean().meta({ description: "required with parent_account_number" }),
  branch_name: text(200).describe("of the customer"),
  description: text(500).describe("for people"),
  vat: text(200).describe("tax number"),
  company_registration_number: text(200).describe("in the register of companies"),
  data_providers: AnyObject.meta({ type: "object", description: "ids at credit agencies" }),
  custom_fields: CustomFields,
};

/** The fields of an account that requests send. */
export const AccountFields = z.object({ ...requiredFields, ...optional(optionalFields) });
export type AccountFields = z.infer<typeof AccountFields>;

/** A customer account. */
export const Account = z.object({
  csrId: z.int(),
  accountNumber: z.string(),
  ...AccountFields.shape,
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type Account = z.infer<typeof Account>;

export const EmbeddedNote = z.object({
  reference: z.string(),
  accountNumber: z.string(),
  body: z.string(),
  effective_date: z.string(),
  createdAt: Timestamp,
  createdBy: NoteAuthor.optional(),
});

/** A customer account with its notes, newest first. */
export const AccountWithNotes = z.object({ ...Account.shape, notes: z.array(EmbeddedNote) });
export type AccountWithNotes = z.infer<typeof AccountWithNotes>;

const one = z.object({ account_number: IngestNumber.describe("of the customer") });
const ACCOUNT = "/api/v1/ingest/accounts/{account_number}";

export const accounts = defineOperations("ingest", "accounts", {
  get: {
    method: "GET",
    path: ACCOUNT,
    access: "ingest:read",
    summary: "Read one account with its notes.",
    params: one,
    query: z.strictObject(AUTHOR_QUERY),
    additions: AUTHOR_ADDITIONS,
    output: AccountWithNotes,
    errors: ["account_not_found"],
    audit: "account.read",
  },
  list: {
    method: "GET",
    path: "/api/v1/ingest/accounts",
    access: "ingest:read",
    summary: "List or search accounts, ordered by number.",
    query: z.strictObject({
      search: SearchText.meta({ description: "part of name, number or display reference" }),
      account_group: requiredText(200).optional().describe("exact"),
      parent_account_number: IngestNumber.optional().describe("accounts directly below it"),
      family_of: IngestNumber.optional().describe("this account and everything below it"),
      ...pages,
    }),
    additions: { name: "family", query: ["family_of"] },
    output: z.object({ data: z.array(Account), pagination: Pagination }),
    list: { defaultFields: ["accountNumber", "name", "currency", "account_group", "email"] },
    extension: true,
    audit: "account.listed",
  },
  create: {
    method: "POST",
    path: ACCOUNT,
    access: "ingest:write",
    summary: "Create an account.",
    params: one,
    body: AccountFields,
    lateValidation: true,
    output: Account,
    errors: ["account_already_exists"],
    audit: "account.created",
  },
  replace: {
    method: "PUT",
    path: ACCOUNT,
    access: "ingest:write",
    summary: "Create an account or replace all its fields.",
    params: one,
    body: AccountFields,
    lateValidation: true,
    upsert: true,
    effects: [{ kind: "replaces", target: "account" }],
    output: Account,
    audit: {
      actions: ["account.created", "account.replaced"],
      choose: ({ status }: Outcome) => (status === 201 ? "account.created" : "account.replaced"),
    },
  },
  update: {
    method: "PATCH",
    path: ACCOUNT,
    access: "ingest:write",
    summary: "Update the given fields of an account; null clears a field, addresses are replaced.",
    params: one,
    body: z.object({ ...optional(requiredFields), ...clearable(optionalFields) }),
    lateValidation: true,
    output: Account,
    errors: ["account_not_found"],
    audit: "account.updated",
  },
});
