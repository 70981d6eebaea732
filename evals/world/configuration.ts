/** The company whose records are generated, its people and its dispute configuration. */
export const TENANT = {
  tenantId: "alder",
  name: "Alder Components Inc.",
  currency: "USD",
} as const;

const MAIL = "alder-components.example";

type Person = { email: string; firstName: string; lastName: string };

const person = (firstName: string, lastName: string): Person => ({
  email: `${firstName}.${lastName}@${MAIL}`.toLowerCase(),
  firstName,
  lastName,
});

/** With whose rights a model works. */
export const ANALYST = { ...person("Avery", "Quinn"), roles: ["Dispute Analyst"] };
/** With whose rights records are read before and after a task. */
export const READER = { ...person("Robin", "Hale"), roles: ["Administrator"] };

export const DEPARTMENTS = { AR: "Accounts Receivable", SALES: "Sales", LOGISTICS: "Logistics" };

/** Those who work on disputes, by department; two of them differ in one letter. */
export const ASSIGNEES = [
  { ...person("Maria", "Delgado"), department: "AR" },
  { ...person("Mario", "Delgado"), department: "LOGISTICS" },
  { ...person("Kofi", "Mensah"), department: "AR" },
  { ...person("Ingrid", "Solberg"), department: "AR" },
  { ...person("Tomas", "Novak"), department: "SALES" },
  { ...person("Priya", "Raman"), department: "SALES" },
  { ...person("Leon", "Fischer"), department: "LOGISTICS" },
  { ...person("Grace", "Okafor"), department: "LOGISTICS" },
] as const;

/** Returns the e-mail address of an assignee by first name. */
export const emailOf = (firstName: string): string => {
  const found = ASSIGNEES.find((one) => one.firstName === firstName);
  if (found === undefined) throw new Error(`There is no assignee ${firstName}.`);
  return found.email;
};

export const CATEGORIES: Readonly<Record<string, string>> = {
  PRICING: "Pricing",
  DELIVERY: "Delivery",
  QUALITY: "Quality",
  BILLING: "Billing",
  TRADE: "Trade promotions",
};

export const REASONS: Readonly<Record<string, readonly [category: string, name: string]>> = {
  "PRICE-PO": ["PRICING", "Price differs from purchase order"],
  "PRICE-CONTRACT": ["PRICING", "Price differs from contract"],
  "SHORT-SHIP": ["DELIVERY", "Short shipment"],
  "NOT-RECEIVED": ["DELIVERY", "Goods not received"],
  "LATE-SHIP": ["DELIVERY", "Late delivery"],
  FREIGHT: ["DELIVERY", "Freight not agreed"],
  DAMAGED: ["QUALITY", "Goods damaged in transit"],
  DEFECT: ["QUALITY", "Defective goods"],
  DUPLICATE: ["BILLING", "Billed twice"],
  TAX: ["BILLING", "Tax charged in error"],
  "WRONG-ACCOUNT": ["BILLING", "Billed to the wrong account"],
  PROMO: ["TRADE", "Promotion not deducted"],
  REBATE: ["TRADE", "Rebate not granted"],
};

export const RESOLUTIONS: Readonly<Record<string, readonly [name: string, isValid: boolean]>> = {
  "CREDIT-FULL": ["Credit memo issued in full", true],
  "CREDIT-PART": ["Partial credit issued", true],
  "NO-ERROR": ["No error found", false],
  REPAID: ["Customer paid the amount back", false],
};
