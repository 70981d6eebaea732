/** The people of the demo tenant: those who work disputes, and their colleagues who have a login. */

const DOMAIN = "demo-manufacturing.example";

export const emailOf = (person: { firstName: string; lastName: string }): string =>
  `${person.firstName}.${person.lastName}@${DOMAIN}`.toLowerCase();

type Worker = {
  firstName: string;
  lastName: string;
  title: string;
  department: string;
  office: keyof typeof OFFICES;
  extension: string;
  /** The role of the person's login; null where there is none. */
  role: string | null;
  /** `left` has gone and is inactive; `leave` will come back. */
  state?: "left" | "leave";
};

export const OFFICES = {
  dayton: {
    address1: "4200 Foundry Road",
    address2: "Building C",
    city: "Dayton",
    state: "OH",
    zip: "45404",
    country: "US",
    phone: "+1 937 555 01",
    timezone: "America/New_York",
  },
  mississauga: {
    address1: "88 Kestrel Road",
    address2: null,
    city: "Mississauga",
    state: "ON",
    zip: "L5T 1K9",
    country: "CA",
    phone: "+1 905 555 01",
    timezone: "America/Toronto",
  },
} as const;

export const WORKERS: readonly Worker[] = [
  {
    firstName: "Maria",
    lastName: "Delgado",
    title: "Dispute Resolution Lead",
    department: "AR",
    office: "dayton",
    extension: "12",
    role: "AR Manager",
  },
  {
    firstName: "Kevin",
    lastName: "Osei",
    title: "AR Analyst",
    department: "AR",
    office: "dayton",
    extension: "18",
    role: "Dispute Analyst",
  },
  {
    firstName: "Tom",
    lastName: "Brandt",
    title: "Pricing Analyst",
    department: "SALES",
    office: "dayton",
    extension: "31",
    role: "Dispute Analyst",
  },
  {
    firstName: "Priya",
    lastName: "Raman",
    title: "Trade Promotions Specialist",
    department: "SALES",
    office: "mississauga",
    extension: "44",
    role: "Dispute Analyst",
    state: "leave",
  },
  {
    firstName: "Carla",
    lastName: "Jennings",
    title: "Freight Claims Coordinator",
    department: "LOGISTICS",
    office: "dayton",
    extension: "52",
    role: "Dispute Analyst",
  },
  {
    firstName: "Dmitri",
    lastName: "Sokolov",
    title: "Shipping Supervisor",
    department: "LOGISTICS",
    office: "mississauga",
    extension: "57",
    role: null,
  },
  {
    firstName: "Hannah",
    lastName: "Schultz",
    title: "Customer Quality Engineer",
    department: "QUALITY",
    office: "dayton",
    extension: "63",
    role: "Dispute Analyst",
  },
  {
    firstName: "Robert",
    lastName: "Keane",
    title: "Returns Coordinator",
    department: "QUALITY",
    office: "dayton",
    extension: "66",
    role: "Dispute Analyst",
    state: "left",
  },
  {
    firstName: "Grace",
    lastName: "Lim",
    title: "Sales Tax Accountant",
    department: "TAX",
    office: "dayton",
    extension: "71",
    role: "Viewer",
  },
];

/** They have a login and work no disputes. The portal is the login under which customers' own entries arrive. */
export const COLLEAGUES = [
  {
    firstName: "Ellen",
    lastName: "Park",
    title: "Credit & Collections Manager",
    role: "AR Manager",
  },
  {
    firstName: "Luis",
    lastName: "Ortega",
    title: "Cash Application Clerk",
    role: "Dispute Analyst",
  },
  { firstName: "Samira", lastName: "Haddad", title: "Internal Auditor", role: "Viewer" },
  { firstName: "Customer", lastName: "Portal", title: "Service account", role: "Integration" },
] as const;

/** A login of the demo tenant, which nobody can use before an operator gives it a password. */
export type Login = {
  email: string;
  firstName: string;
  lastName: string;
  title: string;
  department: string;
  role: string;
  active: boolean;
};

export const LOGINS: readonly Login[] = [
  ...COLLEAGUES.map((person) => ({ ...person, department: "AR", active: true })),
  ...WORKERS.flatMap(({ role, state, ...person }) =>
    role === null ? [] : [{ ...person, role, active: state !== "left" }],
  ),
].map(({ firstName, lastName, title, department, role, active }) => ({
  email: emailOf({ firstName, lastName }),
  firstName,
  lastName,
  title,
  department,
  role,
  active,
}));

const colleague = (lastName: string): string => {
  const person = COLLEAGUES.find((one) => one.lastName === lastName);
  if (person === undefined) throw new RangeError(`no colleague ${lastName}`);
  return emailOf(person);
};

export const MANAGER = colleague("Park");
export const CLERK = colleague("Ortega");
export const PORTAL = colleague("Portal");
