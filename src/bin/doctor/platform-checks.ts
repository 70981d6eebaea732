import { checkRight, findProbe, type Right } from "../../broker/rights.ts";
import { contract, operations } from "../../contract/index.ts";
import type { Access, Operation } from "../../contract/operation.ts";
import { silentLog } from "../../kit/log.ts";
import { activeOperationTools } from "../../mcp/tools/listing/active-tools.ts";
import { type Check, catchProblem, createFault, createPass, toCheck } from "./checks.ts";
import type { Broker } from "../../broker/port.ts";
import { createBrokerFor, createShared } from "../compose/compose.ts";
import type { Config } from "../../config/config.ts";

/** Checks the credential, and that its user belongs to the tenant. With the built-in sign-in none is needed. */
const checkCredential = async (broker: Broker, { http, credentials }: Config): Promise<Check[]> => {
  const { apiKey, email } = credentials;
  if (http.auth === "builtin" && apiKey === undefined && email === undefined) {
    return [createPass("credential", "none is needed: people sign in with their own accounts")];
  }
  const tenants: string[] = [];
  const credential = await catchProblem("credential", async () => {
    const { profile } = contract.users;
    const { output } = await broker.call(profile, {}, { tool: "doctor" });
    const person = profile.output.parse(output);
    tenants.push(...person.tenants.map(({ tenantId }) => tenantId));
    return createPass("credential", `it is ${person.email}'s`);
  });
  return credential.ok ? [credential, checkTenant(broker.tenantId, tenants)] : [credential];
};

const checkTenant = (tenantId: string, tenants: readonly string[]): Check => {
  if (tenants.includes(tenantId)) return createPass("tenant", tenantId);
  const theirs = tenants.join(", ") || "none";
  const found = tenantId === "" ? "none is configured" : `the user has no access to ${tenantId}`;
  return createFault(
    "tenant",
    found,
    `Set RECEIVABLES_TENANT_ID; the credential may use: ${theirs}.`,
  );
};

const listNeededAccess = (used: readonly Operation[]): Access[] => [
  ...new Set(used.map(({ access }) => access).filter((access) => /[: ]/.test(access))),
];

const checkRights = async (broker: Broker, accesses: readonly Access[]): Promise<Right[]> => {
  const rights: Right[] = [];
  for (const access of accesses) {
    const probe = findProbe(access, operations);
    // One after the other, so as not to meet a rate limit.
    if (probe !== undefined) rights.push(await checkRight(broker, access, probe));
  }
  return rights;
};

const isExport = (access: Access): boolean => !access.includes(" ");

/** Formats rights and groups those with the same area: `Dispute Management : READ UPDATE, audit:read`. */
const formatRights = (rights: readonly Access[]): string => {
  const areas = new Map<string, string[]>();
  for (const right of rights) {
    const [area = "", action] = right.split(" : ");
    areas.set(area, [...(areas.get(area) ?? []), ...(action === undefined ? [] : [action])]);
  }
  return [...areas]
    .map(([area, actions]) => (actions.length === 0 ? area : `${area} : ${actions.join(" ")}`))
    .join(", ");
};

const EXPORT_KEY = "export_key";
const KEY_HINT =
  "The platform's administrator issues such keys (admin key issue): set RECEIVABLES_EXT_API_KEY_FILE, or run login with it. Without one, tools for payments, exports, the audit log, accounts and documents are not listed.";

const listLacking = (rights: readonly Right[]): Access[] =>
  rights.flatMap((right) => ("held" in right && !right.held ? [right.access] : []));

/** Compares the rights of one service's credential with those that the enabled tools require. */
const toRightsCheck = (check: string, rights: readonly Right[]): Check => {
  const failed = rights.find((right) => "problem" in right);
  if (failed !== undefined && "problem" in failed) {
    const { problem } = failed;
    const found = toCheck(problem.code === "forbidden_tenant" ? "tenant" : check, problem);
    const isKey = check === EXPORT_KEY && problem.code === "unauthenticated";
    return isKey ? { ...found, hint: KEY_HINT } : found;
  }
  const lacking = listLacking(rights);
  const held = rights.map(({ access }) => access).filter((access) => !lacking.includes(access));
  if (lacking.length === 0) return createPass(check, formatRights(held));
  const hint = "Ask for these rights, or disable the tools with RECEIVABLES_TOOLSETS.";
  // Most people have some rights only; tools that need others say so.
  return held.length === 0
    ? createFault(check, `lacks ${formatRights(lacking)}`, hint)
    : createPass(check, `${formatRights(held)}; not ${formatRights(lacking)}`, hint);
};

/** Lists the tools that the credential may not use, with the missing right of each. */
export const listRefusedTools = (config: Config, rights: readonly Right[]) => {
  const lacking = listLacking(rights);
  return activeOperationTools(config.mcp)
    .filter(({ operation }) => lacking.includes(operation.access))
    .map(({ name, operation }) => ({ tool: name, permission: operation.access }));
};

/** Checks that the platform accepts the credentials, and their rights. */
export const checkPlatform = async (
  config: Config,
): Promise<{ checks: Check[]; rights: Right[] }> => {
  const shared = createShared(config, silentLog);
  const broker = createBrokerFor(shared, config);
  const hasExportKey = config.credentials.extApiKey !== undefined;
  try {
    const who = await checkCredential(broker, config);
    const known = who.length > 1 && who.every(({ ok }) => ok);
    const used = activeOperationTools(config.mcp).map(({ operation }) => operation);
    const required = listNeededAccess(used).filter((access) =>
      isExport(access) ? hasExportKey : known,
    );
    const rights = await checkRights(broker, required);
    const [exports, gateway] = [
      rights.filter(({ access }) => isExport(access)),
      rights.filter(({ access }) => !isExport(access)),
    ];
    return {
      rights,
      checks: [
        ...who,
        ...(gateway.length > 0 ? [toRightsCheck("permissions", gateway)] : []),
        ...(exports.length > 0 ? [toRightsCheck(EXPORT_KEY, exports)] : []),
        ...(hasExportKey ? [] : [createPass(EXPORT_KEY, "optional: none is set", KEY_HINT)]),
      ],
    };
  } finally {
    // With this name, because the session belongs to these checks.
    await broker.logout({ tool: "doctor" }).catch(() => {});
    await broker.close();
    await shared.close();
  }
};
