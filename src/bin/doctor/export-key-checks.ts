import { checkRight, findProbe } from "../../broker/rights.ts";
import { operations } from "../../contract/index.ts";
import { Problem } from "../../contract/errors.ts";
import { silentLog } from "../../kit/log.ts";
import { listKeyFaults } from "../../platform/admin/keys.ts";
import { inspectStore } from "../../platform/store/inspect.ts";
import type { Db } from "../../platform/store/port.ts";
import { type Check, createFault, createPass, toCheck } from "./checks.ts";
import { createBrokerFor, createShared } from "../compose/compose.ts";
import type { Config } from "../../config/config.ts";
import { readExportKeys, type TenantKeys } from "../../config/export-keys-file.ts";
import { readStore } from "../compose/inspect-store.ts";

const CHECK = "export_keys";
const HINT =
  "Correct the file: {TENANT: {apiKey or apiKeyFile, roles: [ROLE, …]}}, mode 0600; `admin key issue` makes a key.";

const checkInStore = async (config: Config, keys: TenantKeys): Promise<string[]> => {
  const read = async (db: Db) => {
    if ((await inspectStore(db)).isEmpty) return ["the store has no tenant yet"];
    const found = [...keys].map(([tenantId, key]) => listKeyFaults(db, { tenantId, ...key }));
    return (await Promise.all(found)).flat();
  };
  return (await readStore(config, read)) ?? ["the store has no tenant yet"];
};

/** Asks a remote platform whether it accepts the keys. Their tenants and roles cannot be asked for. */
const checkAtPlatform = async (config: Config, keys: TenantKeys): Promise<string[]> => {
  const shared = createShared(config, silentLog);
  const probe = findProbe("export:read", operations);
  const check = async (tenantId: string): Promise<string[]> => {
    const extApiKey = keys.get(tenantId)?.apiKey;
    const identity = { tenantId, principal: tenantId, credentials: async () => ({ extApiKey }) };
    if (probe === undefined) return [];
    const right = await checkRight(createBrokerFor(shared, config, identity), "export:read", probe);
    return "problem" in right ? [`the key of ${tenantId}: ${right.problem.message}`] : [];
  };
  try {
    return (await Promise.all([...keys.keys()].map(check))).flat();
  } finally {
    await shared.close();
  }
};

/** Checks the export keys of people who sign in: the file, and its tenants, roles and keys. */
export const checkExportKeys = async (config: Config): Promise<Check[]> => {
  const { exportKeysFile: path, auth } = config.http;
  if (path === undefined) return [];
  try {
    const keys = readExportKeys(path);
    const check = config.remote === undefined ? checkInStore : checkAtPlatform;
    const faults = await check(config, keys);
    if (faults.length > 0) return [createFault(CHECK, faults.join("; "), HINT)];
    const unused = "It counts with RECEIVABLES_HTTP_AUTH=builtin only.";
    const hint = auth === "builtin" ? undefined : unused;
    return [createPass(CHECK, `${path} has keys of ${keys.size} tenants`, hint)];
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return [{ ...toCheck(CHECK, error), hint: HINT }];
  }
};
