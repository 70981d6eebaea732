/** The records of the generated tenant. Amounts are whole cents, days are `yyyy-MM-dd` and times UTC. */

export const CURRENCIES = ["USD", "EUR", "GBP", "CAD"] as const;
export type Currency = (typeof CURRENCIES)[number];

export const STATUSES = ["Open", "Closed", "Canceled"] as const;
export type Status = (typeof STATUSES)[number];

export type Account = {
  number: string;
  name: string;
  currency: Currency;
  /** Whether other accounts are below it. */
  isParent: boolean;
  parent?: string;
};

export type Document = {
  number: string;
  account: string;
  type: "invoice" | "credit_note";
  currency: Currency;
  invoiced: string;
  due: string;
  po: string;
  original: number;
  /** Open balance. */
  balance: number;
};

export type Dispute = {
  code: string;
  document: string;
  account: string;
  accountName: string;
  amount: number;
  currency: Currency;
  reason: string;
  status: Status;
  created: string;
  /** Of a closed or canceled dispute. */
  closed?: string;
  resolution?: string;
  /** E-mail address. */
  assignee?: string;
  po: string;
};

export type Note = {
  id: string;
  dispute: string;
  content: string;
  visibility: "Internal" | "All";
  author: string;
  at: string;
};

export const SOURCES = ["cashapp", "iandp", "bpn"] as const;
export type Source = (typeof SOURCES)[number];

/** A row of payments; a payment has several, and `total` is the same on each of them. */
export type Payment = {
  source: Source;
  id: string;
  /** Of the payment. */
  payment: string;
  day: string;
  method: string;
  reference?: string;
  account: string;
  payer: string;
  currency: Currency;
  /** Of the payment; absent for the portal, whose rows are payments of their own. */
  total?: number;
  /** Absent on rows of money that is not applied to a document. */
  document?: string;
  applied?: number;
  unapplied?: number;
  deducted?: number;
  /** Of the portal. */
  status?: "settled" | "failed" | "refunded" | "scheduled";
};

export type Records = {
  accounts: Account[];
  documents: Document[];
  disputes: Dispute[];
  notes: Note[];
  payments: Payment[];
};
