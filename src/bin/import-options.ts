import type { Source } from "../contract/payments/catalogue.ts";
import type { Format } from "../platform/import/formats.ts";

/** The kinds of records that a file can be imported as. */
export const KINDS = [
  "accounts",
  "documents",
  "closures",
  "disputes",
  "payments",
  "business-units",
  "scores",
  "credit-applications",
  "audit-logs",
] as const;
export type Kind = (typeof KINDS)[number];

/** The command line of `import`. */
export type ImportOptions = {
  kind: Kind;
  file: string;
  tenant: string;
  format?: Format;
  map?: string;
  createConfiguration?: true;
  source?: Source;
};
