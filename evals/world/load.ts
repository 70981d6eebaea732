import { readConfig } from "../../src/config/config.ts";
import { createLog } from "../../src/kit/log.ts";
import { createTenant, setTenant } from "../../src/platform/admin/tenants.ts";
import { insertUser } from "../../src/platform/admin/users.ts";
import { issueKey } from "../../src/platform/admin/keys.ts";
import { insertApiKey } from "../../src/platform/credentials.ts";
import { openPlatform, type OpenPlatform } from "../../src/bin/compose/platform.ts";
import { importText } from "../../test/support/importing.ts";
import {
  ANALYST,
  ASSIGNEES,
  CATEGORIES,
  DEPARTMENTS,
  READER,
  REASONS,
  RESOLUTIONS,
  TENANT,
} from "./configuration.ts";
import { type Api, createApi } from "./api.ts";
import type { World } from "./index.ts";

const { tenantId } = TENANT;

/** The generated tenant in a data folder, and the keys to it. */
export type LoadedWorld = {
  dataFolder: string;
  tenantId: string;
  /** Settings with which the MCP server works as the analyst, without the right to delete, to configure or to ingest. */
  analyst: Record<string, string>;
  /** Keys of an administrator, with which records are read before and after a task. */
  reader: { apiKey: string; extApiKey: string };
};

/** Days within which disputes are to be decided. */
export const DISPUTE_DAYS = 45;

const READ_SCOPES = ["export:read", "audit:read", "ingest:read"];

/** Adds a person without a password, and issues the keys to work with. */
const addPerson = async (
  base: OpenPlatform,
  person: typeof ANALYST,
  scopes: readonly string[],
): Promise<LoadedWorld["reader"]> => {
  const { apiKey } = await base.store.transaction(async (tx) => {
    const userId = await insertUser(tx, base, { tenantId, ...person }, null);
    return insertApiKey(tx, base, { tenantId, userId });
  });
  const { apiKey: extApiKey } = await issueKey(base, { tenantId, name: person.email, scopes });
  return { apiKey, extApiKey };
};

/** Creates the configuration of disputes through the API. */
const configure = async (api: Api): Promise<void> => {
  const path = `/dispute/v1/tenants/${tenantId}`;
  const create = (noun: string, body: object): Promise<unknown> =>
    api("POST", `${path}/${noun}`, body);
  for (const [code, description] of Object.entries(DEPARTMENTS)) {
    await create("departments", { code, description });
  }
  for (const { department, ...person } of ASSIGNEES) {
    await create("assignees", { departmentCode: department, person });
  }
  for (const [code, description] of Object.entries(CATEGORIES)) {
    await create("categories", { code, description });
  }
  for (const [code, [categoryCode, description]] of Object.entries(REASONS)) {
    await create("reasons", { code, description, categoryCode });
  }
  for (const [code, [description, isValid]] of Object.entries(RESOLUTIONS)) {
    await create("resolutions", { code, description, isValid });
  }
};

const importFiles = async (base: OpenPlatform, { files }: World): Promise<void> => {
  for (const { name, kind, source, text } of files) {
    const how = {
      format: "ndjson",
      file: name,
      ...(source === undefined ? {} : { source }),
    } as const;
    const { counts, rejects } = await importText(base, tenantId, kind, text, how);
    if (rejects.length > 0 || counts.written !== counts.read) {
      throw new Error(`${name}: ${JSON.stringify({ ...counts, first: rejects[0] })}`);
    }
  }
};

/** Settings of a platform on a data folder, without limits that a benchmark would reach. */
const settingsOf = (dataFolder: string): Record<string, string> => ({
  RECEIVABLES_DATA: dataFolder,
  RECEIVABLES_TENANT_ID: tenantId,
  RECEIVABLES_KEYCHAIN: "off",
  RECEIVABLES_LOG: "error",
  RECEIVABLES_GATEWAY_RATE_MINUTE: "0",
  RECEIVABLES_RATE_MINUTE: "0",
  RECEIVABLES_RATE_HOUR: "0",
  RECEIVABLES_TOOLS_RATE_MINUTE: "0",
});

/** Opens the platform on a data folder in this process. */
export const openWorld = (dataFolder: string): Promise<OpenPlatform> => {
  const config = readConfig({
    env: settingsOf(dataFolder),
    readFile: (path) => path,
    dataFolder,
  });
  return openPlatform(config, createLog("error"));
};

/** Imports the files of a world into an empty data folder, as a new tenant. @throws {Error} if a row is refused */
export const loadWorld = async (world: World, dataFolder: string): Promise<LoadedWorld> => {
  const base = await openWorld(dataFolder);
  try {
    await createTenant(base, TENANT);
    await setTenant(base, tenantId, [`disputeDays=${DISPUTE_DAYS}`]);
    const reader = await addPerson(base, READER, [...READ_SCOPES, "export:manage", "ingest:write"]);
    const analyst = await addPerson(base, ANALYST, READ_SCOPES);
    await configure(createApi(async (request) => base.fetch(request), reader));
    await importFiles(base, world);
    return {
      dataFolder,
      tenantId,
      analyst: {
        ...settingsOf(dataFolder),
        RECEIVABLES_API_KEY: analyst.apiKey,
        RECEIVABLES_EXT_API_KEY: analyst.extApiKey,
      },
      reader,
    };
  } finally {
    await base.close();
  }
};
