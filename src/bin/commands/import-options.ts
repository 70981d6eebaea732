import type { Source } from "../../contract/payments/catalogue.ts";
import type { Format, TableFormat } from "../../platform/import/formats.ts";
import type { Kind } from "../../platform/import/kinds.ts";

/** The command line of `import suggest`. */
export type SuggestOptions = {
  kind: Kind;
  file: string;
  format?: TableFormat;
  source?: Source;
  currency?: string;
  output?: string;
};

/** The command line of `import`. */
export type ImportOptions = {
  kind: Kind;
  file: string;
  tenant: string;
  format?: Format;
  map?: string;
  createConfiguration?: true;
  source?: Source;
  dryRun?: true;
  verbose?: true;
};
