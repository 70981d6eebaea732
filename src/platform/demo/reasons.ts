import type { ReasonRow } from "../store/tables.ts";

/** How a claim's amount comes about: the whole document, a part of it, an exact rate, or what it was charged for. */
export type Claim =
  | { kind: "whole" }
  | { kind: "part"; from: number; to: number }
  | { kind: "rate"; rates: readonly number[] }
  | { kind: "freight" }
  | { kind: "tax" };

export type ReasonPlan = {
  code: string;
  description: string;
  category: string;
  visibility: ReasonRow["visibility"];
  claim: Claim;
  /** How often it comes up; 0 where it is only what customers choose, or retired. */
  weight: number;
  /** How claims of this kind end: resolution codes and how often. */
  ends: readonly (readonly [string, number])[];
  retired?: true;
};

const goods = [
  ["CREDIT-FULL", 6],
  ["CREDIT-PART", 3],
  ["DENIED", 2],
] as const;
const paper = [
  ["REBILLED", 6],
  ["DENIED", 2],
] as const;

export const REASONS: readonly ReasonPlan[] = [
  {
    code: "PRICE-CONTRACT",
    description: "Price differs from contract",
    category: "PRICING",
    visibility: "Internal",
    claim: { kind: "part", from: 0.02, to: 0.12 },
    weight: 13,
    ends: [
      ["CREDIT-FULL", 5],
      ["CREDIT-PART", 3],
      ["REBILLED", 2],
      ["DENIED", 3],
    ],
  },
  {
    code: "PRICE-PO",
    description: "Price differs from purchase order",
    category: "PRICING",
    visibility: "Internal",
    claim: { kind: "part", from: 0.03, to: 0.18 },
    weight: 8,
    ends: [
      ["REBILLED", 5],
      ["CREDIT-FULL", 3],
      ["DENIED", 3],
    ],
  },
  {
    code: "PRICE",
    description: "The price is not what we agreed",
    category: "PRICING",
    visibility: "External",
    claim: { kind: "part", from: 0.02, to: 0.15 },
    weight: 0,
    ends: [],
  },
  {
    code: "SHORT-SHIP",
    description: "Short shipment",
    category: "DELIVERY",
    visibility: "All",
    claim: { kind: "part", from: 0.04, to: 0.35 },
    weight: 14,
    ends: goods,
  },
  {
    code: "NO-POD",
    description: "Proof of delivery missing",
    category: "DELIVERY",
    visibility: "All",
    claim: { kind: "whole" },
    weight: 7,
    ends: [
      ["POD-ACCEPTED", 7],
      ["CREDIT-FULL", 1],
    ],
  },
  {
    code: "LATE",
    description: "Late delivery penalty",
    category: "DELIVERY",
    visibility: "Internal",
    claim: { kind: "rate", rates: [0.02, 0.03, 0.05] },
    weight: 3,
    ends: [
      ["DENIED", 3],
      ["CREDIT-PART", 2],
    ],
  },
  {
    code: "NOT-RECEIVED",
    description: "We did not receive this",
    category: "DELIVERY",
    visibility: "External",
    claim: { kind: "part", from: 0.1, to: 0.6 },
    weight: 0,
    ends: [],
  },
  {
    code: "DAMAGED",
    description: "Goods damaged in transit",
    category: "QUALITY",
    visibility: "All",
    claim: { kind: "part", from: 0.03, to: 0.4 },
    weight: 9,
    ends: goods,
  },
  {
    code: "RETURNED",
    description: "Goods returned, credit pending",
    category: "QUALITY",
    visibility: "Internal",
    claim: { kind: "part", from: 0.08, to: 0.7 },
    weight: 8,
    ends: goods,
  },
  {
    code: "OFF-SPEC",
    description: "Out of specification",
    category: "QUALITY",
    visibility: "Internal",
    claim: { kind: "part", from: 0.1, to: 0.9 },
    weight: 3,
    ends: goods,
  },
  {
    code: "GOODS",
    description: "The goods were faulty or damaged",
    category: "QUALITY",
    visibility: "External",
    claim: { kind: "part", from: 0.05, to: 0.5 },
    weight: 0,
    ends: [],
  },
  {
    code: "DUP-INVOICE",
    description: "Duplicate invoice",
    category: "BILLING",
    visibility: "All",
    claim: { kind: "whole" },
    weight: 4,
    ends: [
      ["CREDIT-FULL", 4],
      ["DENIED", 2],
    ],
  },
  {
    code: "MISSING-PO",
    description: "Purchase order missing or wrong",
    category: "BILLING",
    visibility: "All",
    claim: { kind: "whole" },
    weight: 7,
    ends: paper,
  },
  {
    code: "BILL-TO",
    description: "Wrong bill-to",
    category: "BILLING",
    visibility: "Internal",
    claim: { kind: "whole" },
    weight: 3,
    ends: paper,
  },
  {
    code: "ALREADY-PAID",
    description: "Already paid",
    category: "BILLING",
    visibility: "All",
    claim: { kind: "whole" },
    weight: 5,
    ends: [["PAID", 1]],
  },
  {
    code: "PROMO",
    description: "Promotion or co-op allowance",
    category: "DEDUCTION",
    visibility: "Internal",
    claim: { kind: "rate", rates: [0.02, 0.03, 0.05, 0.075, 0.1] },
    weight: 8,
    ends: [
      ["CREDIT-FULL", 5],
      ["CREDIT-PART", 2],
      ["DENIED", 3],
    ],
  },
  {
    code: "UNEARNED-DISC",
    description: "Unearned cash discount",
    category: "DEDUCTION",
    visibility: "Internal",
    claim: { kind: "rate", rates: [0.01, 0.02, 0.02, 0.025] },
    weight: 8,
    ends: [
      ["WRITE-OFF", 5],
      ["DENIED", 4],
    ],
  },
  {
    code: "FREIGHT",
    description: "Freight charged against terms",
    category: "TAX-FREIGHT",
    visibility: "Internal",
    claim: { kind: "freight" },
    weight: 8,
    ends: [
      ["CREDIT-FULL", 4],
      ["WRITE-OFF", 3],
      ["DENIED", 3],
    ],
  },
  {
    code: "TAX",
    description: "Sales tax charged to an exempt customer",
    category: "TAX-FREIGHT",
    visibility: "Internal",
    claim: { kind: "tax" },
    weight: 6,
    ends: [
      ["CREDIT-FULL", 5],
      ["DENIED", 2],
    ],
  },
  {
    code: "CORE-DEP",
    description: "Core deposit (no longer used)",
    category: "DEDUCTION",
    visibility: "Internal",
    claim: { kind: "part", from: 0.01, to: 0.05 },
    weight: 0,
    ends: [],
    retired: true,
  },
];
