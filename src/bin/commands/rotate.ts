import { existsSync } from "node:fs";
import { renewProfiles } from "../../broker/profiles.ts";
import { renewVault, VAULT_PURPOSE } from "../../broker/vault.ts";
import { Problem } from "../../contract/errors.ts";
import type { MasterKey } from "../../kit/seal.ts";
import type { Renewal } from "../../kit/sealed-column.ts";
import { renewFiles } from "../../kit/sealed-files.ts";
import { renewRecords } from "../../oauth/records.ts";
import { openOauthStore } from "../../records/open.ts";
import { rotateStore } from "../../platform/admin/rotation.ts";
import { getDataPaths, readExistingMasterKey } from "../../config/folder.ts";
import { sealOf } from "../../platform/demo/credentials.ts";
import type { Io } from "./io.ts";
import { openBase, readOperator } from "../compose/platform.ts";
import { inspectStore } from "../../platform/store/inspect.ts";
import { SAVED_PURPOSE } from "../../records/saved-files.ts";
import { SESSIONS_PURPOSE } from "../../records/shared-sessions.ts";
import { readStore } from "../compose/inspect-store.ts";

type Renewals = Record<string, Renewal>;

/** Rotates the platform's store, if this configuration has one. */
const renewPlatform = async ({ config }: Io, masterKey: MasterKey): Promise<Renewals> => {
  const state = await readStore(config, inspectStore);
  if (state === undefined || state.isEmpty) return {};
  const base = await openBase(config);
  try {
    return await rotateStore({ ...base, masterKey, operator: readOperator() });
  } finally {
    await base.store.close();
  }
};

/** Rotates the store of the built-in sign-in, if this configuration has one. */
const renewSignIn = async ({ config }: Io, masterKey: MasterKey): Promise<Renewals> => {
  const { oauth: path, database: platformPath } = getDataPaths(config.dataFolder);
  const databaseUrl = config.databaseUrl?.reveal();
  if (databaseUrl === undefined && !existsSync(path)) return {};
  const store = await openOauthStore({ databaseUrl, path, platformPath });
  try {
    return {
      signIn: await renewRecords(store, masterKey, [
        VAULT_PURPOSE,
        SESSIONS_PURPOSE,
        SAVED_PURPOSE,
      ]),
    };
  } finally {
    await store.close();
  }
};

const renewFolder = async ({ config }: Io, key: MasterKey): Promise<Renewals> => {
  const paths = getDataPaths(config.dataFolder);
  const masterKey = async () => key;
  return {
    secrets: await renewVault({ folder: paths.secrets, masterKey }),
    profiles: await renewProfiles({ folder: paths.profiles, masterKey }),
    demo: await renewFiles([paths.demo], sealOf({ masterKey: key })),
  };
};

/** Encrypts and signs with the current master key all data of former keys, in the stores and in the data folder. */
export const rotateSecrets = async (io: Io): Promise<void> => {
  const { previousSecretKey } = io.config;
  if (previousSecretKey === undefined) {
    throw new Problem(
      "invalid_request",
      "RECEIVABLES_SECRET_KEY_PREVIOUS is not set. Set it to the former master key, and RECEIVABLES_SECRET_KEY to the new one.",
    );
  }
  const masterKey = await readExistingMasterKey(io.config);
  const renewals: Renewals = {
    ...(await renewPlatform(io, masterKey)),
    ...(await renewSignIn(io, masterKey)),
    ...(await renewFolder(io, masterKey)),
  };
  const unreadable = Object.entries(renewals).filter(([, renewal]) => renewal.unreadable > 0);
  io.print(
    Object.fromEntries(Object.entries(renewals).map(([name, { renewed }]) => [name, renewed])),
  );
  if (unreadable.length === 0) {
    io.notify("Everything has the new key. Remove RECEIVABLES_SECRET_KEY_PREVIOUS, and restart.");
    return;
  }
  const counts = unreadable.map(([name, renewal]) => `${name}: ${renewal.unreadable}`).join(", ");
  throw new Error(`Neither key opens some sealed values, which stay as they are: ${counts}.`);
};
