import type { Migration } from "kysely/migration";

/**
 * Released versions created the table `oauth_records` here, for the built-in sign-in. The sign-in has tables of its own
 * (`src/records`) and copies the rows of this one at its first start, so existing databases keep the table.
 */
export const oauth: Migration = { up: async () => {} };
