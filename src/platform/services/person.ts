import type { Fault } from "../../contract/errors.ts";
import { formatFaults } from "../../contract/faults.ts";
import type { Assignee, PersonInput } from "../../contract/operations/assignees.ts";
import type { findMember } from "../store/queries/assignees.ts";
import type { AssigneeRow } from "../store/tables/schema.ts";
import type { Asking } from "./records.ts";

type Person = Assignee["person"];
type Member = NonNullable<Awaited<ReturnType<typeof findMember>>>;
type Names = Pick<AssigneeRow, "email" | "first_name" | "last_name">;
/** The fields of a person that are stored as one JSON column. */
type Details = Omit<Person, "firstName" | "lastName" | "email">;

const NO_ADDRESS: Person["address"] = {
  address1: null,
  address2: null,
  city: null,
  state: null,
  zip: null,
  country: null,
};

const NO_DETAILS: Details = {
  officePhone: null,
  cellPhone: null,
  fax: null,
  title: null,
  language: null,
  timezone: null,
  address: NO_ADDRESS,
};

const NAMES = [
  ["firstName", "first_name"],
  ["lastName", "last_name"],
  ["email", "email"],
] as const;

const parseDetails = (row: AssigneeRow): Details => {
  const stored = JSON.parse(row.person) as Partial<Details>;
  return { ...NO_DETAILS, ...stored, address: { ...NO_ADDRESS, ...stored.address } };
};

export const toPerson = (row: AssigneeRow): Person => ({
  firstName: row.first_name,
  lastName: row.last_name,
  email: row.email,
  ...parseDetails(row),
});

const toMemberDetails = (member: Member): Details => {
  const profile = JSON.parse(member.profile) as Record<string, string | null | undefined>;
  return {
    ...NO_DETAILS,
    officePhone: profile["officePhone"] ?? null,
    cellPhone: profile["mobilePhone"] ?? null,
    fax: profile["faxNumber"] ?? null,
    title: profile["title"] ?? null,
    language: member.default_language,
    timezone: member.time_zone,
  };
};

/** Merges the sent fields into the stored ones; null clears a field. */
const mergeFields = (base: Details, sent: PersonInput): Details => {
  const choose = (key: Exclude<keyof Details, "timezone" | "address">) =>
    sent[key] === undefined ? base[key] : sent[key];
  const timezone = sent.timeZone === undefined ? sent.timezone : sent.timeZone;
  const address = { ...base.address };
  for (const key of Object.keys(NO_ADDRESS) as (keyof typeof NO_ADDRESS)[]) {
    const value = sent.address === null ? null : sent.address?.[key];
    if (value !== undefined) address[key] = value;
  }
  return {
    officePhone: choose("officePhone"),
    cellPhone: choose("cellPhone"),
    fax: choose("fax"),
    title: choose("title"),
    language: choose("language"),
    timezone: timezone === undefined ? base.timezone : timezone,
    address,
  };
};

const toNames = (call: Asking, sent: PersonInput, base: Names | undefined): Names => {
  const names = { first_name: "", last_name: "", email: "" };
  const errors: Fault[] = [];
  for (const [field, column] of NAMES) {
    names[column] = sent[field] ?? base?.[column] ?? "";
    if (names[column] !== "") continue;
    errors.push({ field: `person.${field}`, code: "required", message: "is required" });
  }
  if (errors.length === 0) return names;
  return call.fail("invalid_request", formatFaults(errors), { errors });
};

/** Returns the person columns of a new assignee: the sent fields, else those of the user. */
export const createPersonColumns = (
  call: Asking,
  sent: PersonInput,
  member: Member | undefined,
) => ({
  ...toNames(call, sent, member),
  person: JSON.stringify(
    mergeFields(member === undefined ? NO_DETAILS : toMemberDetails(member), sent),
  ),
});

/** Returns the person columns of a changed assignee: the sent fields, else the stored ones. */
export const changePersonColumns = (call: Asking, sent: PersonInput, found: AssigneeRow) => ({
  ...toNames(call, sent, found),
  person: JSON.stringify(mergeFields(parseDetails(found), sent)),
});
