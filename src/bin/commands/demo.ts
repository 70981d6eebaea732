import { Problem } from "../../contract/errors.ts";
import { issueKey } from "../../platform/admin/keys.ts";
import { deleteTenant } from "../../platform/admin/tenant-removal.ts";
import { insertApiKey } from "../../platform/credentials.ts";
import { DEMO_OWNER, DEMO_TENANT } from "../../platform/demo/load.ts";
import { findTenant } from "../../platform/store/queries/tenants.ts";
import { findUserByEmail } from "../../platform/store/queries/users.ts";
import { createDemo } from "../../platform/demo/credentials.ts";
import { createMasterKeyReader, getDataPaths } from "../../config/folder.ts";
import type { Io } from "./io.ts";
import { type Base, openOwnFiles } from "../compose/platform.ts";
import { createStepProgress } from "./progress.ts";
import { createLog } from "../../kit/log.ts";
import { printFromStore } from "./admin.ts";

const { tenantId } = DEMO_TENANT;

const openNeeds = async ({ config, tellsPerson }: Io, base: Base) => {
  const log = createLog(config.level);
  const isPerson = tellsPerson && !config.log.isJson;
  const steps = createStepProgress({ stream: process.stderr, isPerson, log });
  return {
    ...base,
    files: await openOwnFiles(base, config),
    masterKey: await createMasterKeyReader(config)(),
    path: getDataPaths(config.dataFolder).demo,
    progress: steps.at,
    end: steps.end,
  };
};

/** Creates the demo tenant, in an embedded store or PostgreSQL; its credentials are sealed in the data folder. */
export const runDemoCreate = (io: Io) =>
  printFromStore(
    io,
    async (base) => {
      const needs = await openNeeds(io, base);
      return createDemo(needs).finally(needs.end);
    },
    { canCreate: true },
  );

/** Deletes the demo tenant with all changes, and creates it again with the dates of today. */
export const runDemoReset = async (io: Io, options: { confirm?: string }) => {
  const confirm = options.confirm ?? (await io.ask?.line(`Type ${tenantId} to reset it`));
  await printFromStore(io, async (base) => {
    const needs = await openNeeds(io, base);
    if ((await findTenant(base.store.read, tenantId)) !== undefined) {
      await deleteTenant(needs, { tenantId, confirm });
    }
    return createDemo(needs).finally(needs.end);
  });
  io.notify("Servers that are running use the former credentials: start them again.");
};

/** Creates keys for the REST API of the demo tenant: one of its owner, and one for export and ingest. */
export const runDemoKey = (io: Io) =>
  printFromStore(io, async (base) => {
    const { store } = base;
    const owner = await findUserByEmail(store.read, DEMO_OWNER.email);
    if (owner === undefined) {
      throw new Problem("not_found", "There is no demo tenant: `admin demo create` creates it.");
    }
    const { keyId, apiKey } = await store.transaction(async (tx) => {
      const made = await insertApiKey(tx, base, { tenantId, userId: owner.id });
      await base.record(tx, { tenantId, action: "admin.key_issued", resourceId: made.keyId });
      return made;
    }, tenantId);
    const { apiKey: extApiKey } = await issueKey(base, { tenantId, name: "Demo REST key" });
    const { headerWord: word } = io.config;
    const headers = { gateway: `X-${word}-Api-Key: ${apiKey}`, export: `X-Api-Key: ${extApiKey}` };
    return { tenantId, email: DEMO_OWNER.email, keyId, apiKey, extApiKey, headers };
  });
