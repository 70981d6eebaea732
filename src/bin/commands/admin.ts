import { Problem } from "../../contract/errors.ts";
import { createMasterKeyReader } from "../../config/folder.ts";
import {
  type Fault,
  readSignedHead,
  type Verdict,
  verifyAudit,
} from "../../platform/admin/audit.ts";
import { issueKey, revokeKey } from "../../platform/admin/keys.ts";
import { setReasonDays } from "../../platform/admin/reasons.ts";
import { setApplyWhenInvoiceClosed } from "../../platform/admin/resolutions.ts";
import { createRole } from "../../platform/admin/roles.ts";
import { setRoute } from "../../platform/admin/routes.ts";
import {
  createTenant,
  type NewTenant,
  setTenant,
  showTenant,
} from "../../platform/admin/tenants.ts";
import { createUser, type NewUser, updateUser } from "../../platform/admin/users.ts";
import { adoptFileStore } from "../../platform/files/identity.ts";
import { formatLocation } from "../../platform/files/location.ts";
import { openFiles } from "../../platform/files/open.ts";
import { inspectStore } from "../../platform/store/inspect.ts";
import { readTextFile } from "./input-file.ts";
import type { Io } from "./io.ts";
import { type Base, describeUpgrade, openBase } from "../compose/platform.ts";
import { readStore } from "../compose/inspect-store.ts";

const checkStoreExists = async ({ config }: Io): Promise<void> => {
  const state = await readStore(config, inspectStore);
  if (state?.isEmpty === false) return;
  const place =
    config.databaseUrl === undefined
      ? `in the data folder ${config.dataFolder}. Check --data or RECEIVABLES_DATA`
      : "in the database. Check DATABASE_URL";
  throw new Problem("not_found", `There is no store ${place}, or create a tenant first.`);
};

// Commands use the store directly, also while servers run on it.
export const withStore = async <T>(
  io: Io,
  act: (base: Base) => Promise<T>,
  { canCreate = false } = {},
): Promise<T> => {
  // A mistyped folder would become another, empty store.
  if (!canCreate) await checkStoreExists(io);
  const base = await openBase(io.config, (steps) => {
    const { version, hint } = describeUpgrade(steps);
    io.notify(`The store is upgraded to version ${version} (${steps.join(", ")}). ${hint}`);
  });
  try {
    return await act(base);
  } finally {
    await base.store.close();
  }
};

export const printFromStore = async (
  io: Io,
  act: (base: Base) => Promise<object>,
  options?: { canCreate: boolean },
): Promise<void> => {
  io.print(await withStore(io, act, options));
};

/** Reads a new password: at a terminal without showing it, else standard input without the final newline. */
export const readNewPassword = async (io: Io): Promise<string> =>
  io.ask === undefined
    ? (await io.readInput()).replace(/\r?\n$/, "")
    : io.ask.hidden("New password");

export const runTenantCreate = (
  io: Io,
  tenantId: string,
  { name, currencyModel, currency }: Required<Omit<NewTenant, "tenantId">>,
) => {
  const tenant = { tenantId, name, currencyModel, currency };
  return printFromStore(io, (base) => createTenant(base, tenant), { canCreate: true });
};

export const runTenantShow = (io: Io, tenantId: string) =>
  printFromStore(io, (base) => showTenant(base, tenantId));

export const runTenantSet = (io: Io, tenantId: string, pairs: string[]) =>
  printFromStore(io, (base) => setTenant(base, tenantId, pairs));

export const runRoleCreate = (
  io: Io,
  { tenant: tenantId, name, grant: grants }: { tenant: string; name: string; grant: string[] },
) => printFromStore(io, (base) => createRole(base, { tenantId, name, grants }));

type UserOptions = Omit<NewUser, "tenantId" | "roles"> & { tenant: string; role: string[] };

export const runUserCreate = (
  io: Io,
  { tenant: tenantId, email, firstName, lastName, role: roles }: UserOptions,
) =>
  printFromStore(io, async (base) => {
    const made = { tenantId, email, firstName, lastName, roles };
    const user = await createUser(base, made, () => readNewPassword(io));
    if (user.password === "kept") {
      io.notify(
        `${user.email} is a user of this store already: a given password was not used, and the present one stays, if there is one. To set one: admin user set-password, or admin user reset-link.`,
      );
    }
    return user;
  });

type UserChange = {
  tenant: string;
  email: string;
  role?: string[];
  status?: "Active" | "Inactive";
};

export const runUserUpdate = (
  io: Io,
  { tenant: tenantId, email, role: roles, status }: UserChange,
) => printFromStore(io, (base) => updateUser(base, { tenantId, email, roles, status }));

type ResolutionOptions = { tenant: string; code: string; applyWhenInvoiceClosed: "true" | "false" };

export const runReasonSet = (
  io: Io,
  {
    tenant: tenantId,
    category,
    code,
    days,
  }: Record<"tenant" | "category" | "code" | "days", string>,
) => printFromStore(io, (base) => setReasonDays(base, { tenantId, category, code, days }));

export const runResolutionSet = (
  io: Io,
  { tenant: tenantId, code, applyWhenInvoiceClosed }: ResolutionOptions,
) => {
  const value = applyWhenInvoiceClosed === "true";
  return printFromStore(io, (base) => setApplyWhenInvoiceClosed(base, { tenantId, code, value }));
};

export const runRouteSet = (
  io: Io,
  { tenant: tenantId, ...route }: { tenant: string; category: string; assignee: string },
) => printFromStore(io, (base) => setRoute(base, { tenantId, ...route }));

export const runKeyIssue = (
  io: Io,
  { tenant: tenantId, name, scopes }: { tenant: string; name: string; scopes?: string },
) =>
  printFromStore(io, (base) =>
    issueKey(base, { tenantId, name, scopes: scopes?.split(",").map((scope) => scope.trim()) }),
  );

/** Records the configured file store as the database's, after its files were moved there. */
export const runFilesAdopt = (io: Io) =>
  printFromStore(io, async (base) => {
    const { files } = io.config;
    return adoptFileStore({ ...base, files: await openFiles(files) }, formatLocation(files));
  });

const FAULTS: Record<Fault, (verdict: Verdict) => string> = {
  head_missing: () => "the row that records its end is missing from the database.",
  other_key: () =>
    "it is signed with another master key. Set RECEIVABLES_SECRET_KEY to the key that signed it.",
  entry_changed: ({ sealedTo, firstBadId }) =>
    `it is valid up to entry number ${sealedTo}; entry ${firstBadId} is not.`,
  entries_missing: ({ sealedTo }) =>
    `it is valid up to entry number ${sealedTo}; later ones are missing.`,
  head_changed: () => "the row that records its end was changed.",
  not_sealed: () => "its entries have no key.",
  evidence_changed: ({ evidence }) => String(evidence),
  kept_head_differs: () =>
    "the stored head is not in it: it was replaced, or restored to an older state.",
  kept_head_purged: () =>
    "retention has removed the entry of the stored head, so it cannot be compared. Store a newer head.",
};

/** Reads the head that `--head` names; `-` is standard input. */
const readHead = async (io: Io, path: string): Promise<string> =>
  path === "-" ? io.readInput() : readTextFile("head", path);

/** Prints the verdict; throws if the log was altered. */
export const runAuditVerify = async (
  io: Io,
  tenantId: string,
  { head }: { head?: string | undefined },
): Promise<void> => {
  const text = head === undefined ? undefined : await readHead(io, head);
  const verdict = await withStore(io, async (base) =>
    verifyAudit(
      { ...base, masterKey: await createMasterKeyReader(io.config)() },
      tenantId,
      text === undefined ? undefined : readSignedHead(base, tenantId, text),
    ),
  );
  io.print(verdict);
  const { fault } = verdict;
  if (fault === null) return;
  throw new Error(`The audit log of tenant ${tenantId} does not verify: ${FAULTS[fault](verdict)}`);
};

export const runKeyRevoke = (io: Io, keyId: string) =>
  printFromStore(io, (base) => revokeKey(base, keyId));
