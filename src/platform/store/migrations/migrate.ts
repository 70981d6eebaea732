import type { Kysely } from "kysely";
import { type Migration, Migrator } from "kysely/migration";
import { getMessage } from "../../../kit/error.ts";
import { type Db, StoreUnavailable } from "../port.ts";
import { findNewestVersion, listApplied } from "../engine/program-versions.ts";
import { spine } from "./0001-spine.ts";
import { ingest } from "./0002-ingest.ts";
import { jobs } from "./0003-jobs.ts";
import { credit } from "./0004-credit.ts";
import { payments } from "./0005-payments.ts";
import { disputeAttachments } from "./0006-dispute-attachments.ts";
import { schedules } from "./0007-schedules.ts";
import { webhooks } from "./0008-webhooks.ts";
import { oauth } from "./0009-oauth.ts";
import { auditKey } from "./0010-audit-key.ts";
import type { Sealing } from "../audit/signing.ts";
import { knownAddresses } from "./0011-known-addresses.ts";
import { fairTurns } from "./0012-fair-turns.ts";
import { accountChildren } from "./0013-account-children.ts";
import { listings } from "./0014-listings.ts";
import { fileStore } from "./0015-file-store.ts";
import { tenantPhase } from "./0016-tenant-phase.ts";
import { auditKeys } from "./0017-audit-keys.ts";
import { versions } from "./0018-versions.ts";
import { partitions } from "./0019-partitions.ts";
import { plans } from "./0020-plans.ts";
import { paymentNames } from "./0021-payment-names.ts";
import { disputeNames } from "./0022-dispute-names.ts";
import { paymentFacts } from "./0023-payment-facts.ts";
import { matching } from "./0024-matching.ts";
import { imports } from "./0025-imports.ts";
import { scanWarnings } from "./0026-scan-warnings.ts";
import { purchaseOrders } from "./0027-purchase-orders.ts";
import { documentBalances } from "./0028-document-balances.ts";
import { changes } from "./0029-changes.ts";
import { savedFiles } from "./0030-saved-files.ts";
import { clients } from "./0031-clients.ts";
import { evidence } from "./0032-evidence.ts";
import { precedents } from "./0033-precedents.ts";
import { retainedLinks } from "./0034-retained-links.ts";
import { pastDays } from "./0035-past-days.ts";
import { balancesInKey } from "./0036-balances-in-key.ts";
import { batchEntries } from "./0037-batch-entries.ts";
import { formerBalances } from "./0038-former-balances.ts";
import type { Types } from "./addition.ts";

/** The migrations by name, in order. */
export const listMigrations = (types: Types, sealing: Sealing): Record<string, Migration> => ({
  "0001-spine": spine(types),
  "0002-ingest": ingest(types),
  "0003-jobs": jobs(types),
  "0004-credit": credit(types),
  "0005-payments": payments(types),
  "0006-dispute-attachments": disputeAttachments(types),
  "0007-schedules": schedules(types),
  "0008-webhooks": webhooks(types),
  "0009-oauth": oauth,
  "0010-audit-key": auditKey(types, sealing),
  "0011-known-addresses": knownAddresses(types),
  "0012-fair-turns": fairTurns(types),
  "0013-account-children": accountChildren(types),
  "0014-listings": listings(types),
  "0015-file-store": fileStore(types),
  "0016-tenant-phase": tenantPhase(types),
  "0017-audit-keys": auditKeys(types),
  "0018-versions": versions(types),
  "0019-partitions": partitions(sealing),
  "0020-plans": plans,
  "0021-payment-names": paymentNames,
  "0022-dispute-names": disputeNames,
  "0023-payment-facts": paymentFacts(types),
  "0024-matching": matching(types),
  "0025-imports": imports(types),
  "0026-scan-warnings": scanWarnings(types),
  "0027-purchase-orders": purchaseOrders(types),
  "0028-document-balances": documentBalances(types),
  "0029-changes": changes(types),
  "0030-saved-files": savedFiles(types),
  "0031-clients": clients(types),
  "0032-evidence": evidence(types),
  "0033-precedents": precedents,
  "0034-retained-links": retainedLinks(types, sealing),
  "0035-past-days": pastDays,
  "0036-balances-in-key": balancesInKey,
  "0037-batch-entries": batchEntries(types),
  "0038-former-balances": formerBalances(types),
});

// The steps' types and keys matter only when they run.
const NAMES = Object.keys(listMigrations({} as Types, {} as Sealing));

export const listMigrationNames = (): readonly string[] => NAMES;

/**
 * Lists the steps that this program needs and the database does not have. Steps of a later program are no fault: nodes
 * are upgraded one after the other.
 */
export const findMissingMigrations = async (db: Db): Promise<string[]> => {
  const applied = new Set(await listApplied(db));
  return NAMES.filter((name) => !applied.has(name));
};

/** Returns the error that names the steps of a later program; undefined if there are none. */
const describeNewer = async (db: Db): Promise<Error | undefined> => {
  const later = (await listApplied(db)).filter((name) => !NAMES.includes(name));
  if (later.length === 0) return undefined;
  const version = await findNewestVersion(db);
  const known = version === undefined ? "a later version" : `version ${version}`;
  return new Error(
    `The store is newer than this program: ${known} has applied ${later.join(", ")}. Run that version or a later one, or use another data folder (--data or RECEIVABLES_DATA) or database with this one. There is no way back for this store but a backup of before the upgrade.`,
  );
};

/** Receives the steps of an upgrade before they are applied: former versions then refuse the store. */
export type AnnounceUpgrade = (steps: readonly string[]) => void;

/** Returns the steps that the upgrade of a store of a former version applies; none for a new store. */
const listUpgrade = async (migrator: Migrator): Promise<string[]> => {
  const steps = await migrator.getMigrations();
  const missing = steps.filter(({ executedAt }) => executedAt === undefined);
  return missing.length === steps.length ? [] : missing.map(({ name }) => name);
};

/** Migrates a database to the newest version; several processes may call it at once. */
export const migrate = async (
  db: Kysely<never>,
  types: Types,
  sealing: Sealing,
  announce: AnnounceUpgrade = () => {},
): Promise<void> => {
  const migrator = new Migrator({
    db,
    provider: {
      getMigrations: async () => listMigrations(types, sealing),
    },
  });
  const steps = await listUpgrade(migrator);
  if (steps.length > 0) {
    const newer = await describeNewer(db as unknown as Db);
    if (newer !== undefined) throw newer;
    announce(steps);
  }
  const { error } = await migrator.migrateToLatest();
  if (error === undefined) return;
  if (error instanceof StoreUnavailable) throw error;
  // After an error of the database itself, the transaction reads nothing any more.
  const newer = await describeNewer(db as unknown as Db).catch(() => undefined);
  const message = `the store could not be brought up to date: ${getMessage(error)}`;
  throw newer ?? new Error(message, { cause: error });
};
