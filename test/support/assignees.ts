import { beforeAll } from "vitest";
import { below, make } from "./configuration.ts";
import type { Caller, Person, TestPlatform } from "./platform.ts";

export const EMPTY_ADDRESS = {
  address1: null,
  address2: null,
  city: null,
  state: null,
  zip: null,
  country: null,
};

export const FULL_PERSON = {
  firstName: "Zoë",
  lastName: "Ng",
  email: "Zoe.Ng+claims@Acme.example",
  officePhone: "+1 555 0100",
  cellPhone: "+1 555 0101",
  fax: null,
  title: "Analyst",
  language: "en-GB",
  timezone: "Europe/London",
  address: {
    address1: "1 High Street",
    address2: null,
    city: "Leeds",
    state: "West Yorkshire",
    zip: "LS1 1AA",
    country: "GB",
  },
};

export const byEmail = (email: string): string =>
  `/assignees/by-email/${encodeURIComponent(email)}`;

type Department = { departmentId: string };

/** Creates a tenant with the departments SALES and Claims; `on` has them once tests run. */
export const setUpAssignees = (at: () => TestPlatform) => {
  const on = {} as { admin: Person; call: Caller; sales: Department; claims: Department };
  let people = 0;

  const person = (more: object = {}) => {
    people += 1;
    return {
      firstName: "Kim",
      lastName: `No ${people}`,
      email: `kim${people}@acme.example`,
      ...more,
    };
  };

  const assignee = (more: object = {}) =>
    make(on.admin, "/assignees", { departmentCode: "SALES", person: person(), ...more });

  beforeAll(async () => {
    on.admin = await at().tenant("acme");
    on.call = below(on.admin);
    on.sales = await make(on.admin, "/departments", { code: "SALES", description: "Sales" });
    on.claims = await make(on.admin, "/departments", { code: "Claims", description: "Claims" });
  });

  return { on, person, assignee };
};
