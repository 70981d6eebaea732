import { emailOf } from "./people.ts";

export const DEPARTMENTS = [
  { code: "AR", description: "Accounts Receivable" },
  { code: "SALES", description: "Sales Operations & Pricing" },
  { code: "LOGISTICS", description: "Logistics & Freight" },
  { code: "QUALITY", description: "Quality & Returns" },
  { code: "TAX", description: "Tax & Compliance" },
] as const;

const owner = (firstName: string, lastName: string): string => emailOf({ firstName, lastName });

export const CATEGORIES = [
  {
    code: "PRICING",
    description: "Pricing",
    internal: "PRICE-CONTRACT",
    external: "PRICE",
    department: "SALES",
    owner: owner("Tom", "Brandt"),
  },
  {
    code: "DELIVERY",
    description: "Shipping and delivery",
    internal: "SHORT-SHIP",
    external: "NOT-RECEIVED",
    department: "LOGISTICS",
    owner: owner("Carla", "Jennings"),
  },
  {
    code: "QUALITY",
    description: "Quality and returns",
    internal: "DAMAGED",
    external: "GOODS",
    department: "QUALITY",
    owner: owner("Hannah", "Schultz"),
  },
  {
    code: "BILLING",
    description: "Billing and documents",
    internal: "DUP-INVOICE",
    external: "MISSING-PO",
    department: "AR",
    owner: owner("Kevin", "Osei"),
  },
  {
    code: "DEDUCTION",
    description: "Deductions and promotions",
    internal: "PROMO",
    external: null,
    department: "SALES",
    owner: null,
  },
  {
    code: "TAX-FREIGHT",
    description: "Tax and freight charges",
    internal: "FREIGHT",
    external: null,
    department: "TAX",
    owner: owner("Grace", "Lim"),
  },
] as const;

export const RESOLUTIONS: readonly {
  code: string;
  description: string;
  valid: boolean;
  retired?: true;
}[] = [
  { code: "CREDIT-FULL", description: "Credit memo issued in full", valid: true },
  { code: "CREDIT-PART", description: "Partial credit issued", valid: true },
  { code: "REBILLED", description: "Invoice corrected and rebilled", valid: true },
  { code: "WRITE-OFF", description: "Written off under tolerance", valid: true },
  { code: "DENIED", description: "Denied, balance due", valid: false },
  { code: "POD-ACCEPTED", description: "Proof of delivery accepted, balance due", valid: false },
  { code: "PAID", description: "Payment found and applied", valid: false },
  { code: "DUPLICATE", description: "Duplicate of another dispute", valid: false },
  { code: "GOODWILL", description: "Goodwill credit (retired)", valid: true, retired: true },
];
