import { mkdir, access as mayAccess, constants } from "node:fs/promises";
import { askRight, probeFor, type Right } from "../../broker/rights.ts";
import { reach } from "../../client/reach.ts";
import { contract, operations } from "../../contract/index.ts";
import { Problem } from "../../contract/errors.ts";
import { type Access, type Operation } from "../../contract/operation.ts";
import { SECOND, systemClock } from "../../kit/clock.ts";
import { createLog } from "../../kit/log.ts";
import { activeTools } from "../../mcp/active-tools.ts";
import { nearest } from "../../kit/nearest.ts";
import { compose, type Composed } from "../compose.ts";
import { type Config, settings } from "../config.ts";
import type { Io } from "../io.ts";
import { withProfile } from "../profile.ts";

/** One link between a host and the records, as found. */
export type Check = { check: string; ok: boolean; found: string; hint?: string };

const fine = (check: string, found: string): Check => ({ check, ok: true, found });
const fault = (check: string, found: string, hint: string): Check => ({
  check,
  ok: false,
  found,
  hint,
});

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const NAMES = settings.map(({ name }) => name.split(",")[0] ?? "");

const settingsCheck = ({ unused }: Config): Check => {
  if (unused.length === 0) return fine("settings", "every RECEIVABLES_… variable is a setting");
  const hints = unused.map((name) => {
    const [near] = nearest(name, NAMES);
    return near === undefined ? `${name} is not known` : `${name} is not known: ${near}?`;
  });
  return fault("settings", `${unused.length} unknown`, hints.join("; "));
};

const folderCheck = async ({ dataFolder }: Config): Promise<Check> => {
  try {
    await mkdir(dataFolder, { recursive: true, mode: 0o700 });
    await mayAccess(dataFolder, constants.R_OK | constants.W_OK);
    return fine("data_folder", dataFolder);
  } catch (error) {
    const hint =
      "Choose another with RECEIVABLES_DATA, or give this user the right to write there.";
    return fault("data_folder", textOf(error), hint);
  }
};

const MOST_SKEW_MS = 60 * SECOND;

const reachHint = (why: string): string => {
  if (/CERT|TLS|SSL|SIGNATURE/.test(why)) {
    return "Its certificate is not trusted here: name the authority's file in NODE_EXTRA_CA_CERTS.";
  }
  if (/ENOTFOUND|EAI_AGAIN/.test(why)) return "The host name is not known: check its spelling.";
  return "Check address, port, firewall and proxy.";
};

const addressChecks = async (
  name: "gateway" | "export_service",
  url: string,
  { requestMs }: Config,
): Promise<Check[]> => {
  const reached = await reach(url, { clock: systemClock, timeoutMs: requestMs });
  if (!reached.answers) return [fault(name, `${url}: ${reached.why}`, reachHint(reached.why))];
  const answers = fine(name, `${url} answers (${reached.status})`);
  const { aheadMs = 0 } = reached;
  if (Math.abs(aheadMs) <= MOST_SKEW_MS) return [answers];
  const found = `${url} is ${Math.round(Math.abs(aheadMs) / SECOND)} s ${aheadMs > 0 ? "ahead" : "behind"}`;
  return [answers, fault("clock", found, "Set this machine's clock.")];
};

const addresses = async (config: Config): Promise<Check[]> => {
  const { remote } = config;
  if (remote === undefined) return [fine("gateway", "embedded in this program")];
  const gateway = await addressChecks("gateway", remote.gateway, config);
  if (remote.export === remote.gateway) return gateway;
  return [...gateway, ...(await addressChecks("export_service", remote.export, config))];
};

const problemCheck = (check: string, problem: Problem): Check =>
  fault(check, `${problem.code}: ${problem.message}`, HINTS[problem.code] ?? "See the message.");

const HINTS: Partial<Record<Problem["code"], string>> = {
  unauthenticated: "Check the credential's setting, or make a new key.",
  invalid_credentials: "Check RECEIVABLES_EMAIL and RECEIVABLES_PASSWORD.",
  key_expired: "Make a new key.",
  forbidden_tenant: "Check RECEIVABLES_TENANT_ID, or ask for access to that tenant.",
  rate_limited: "Wait a minute and ask again.",
  unavailable: "See the check of the address.",
};

const caught = async (check: string, act: () => Promise<Check>): Promise<Check> => {
  try {
    return await act();
  } catch (error) {
    if (error instanceof Problem) return problemCheck(check, error);
    throw error;
  }
};

type Broker = Composed["broker"];

const credentialCheck = (broker: Broker): Promise<Check> =>
  caught("credential", async () => {
    const { output } = await broker.call(contract.users.profile, {}, { tool: "doctor" });
    const { email } = output as { email?: unknown };
    return fine("credential", `it is ${String(email)}'s`);
  });

const needed = (used: readonly Operation[]): Access[] => [
  ...new Set(used.map(({ access }) => access).filter((access) => /[: ]/.test(access))),
];

const rightsOf = async (broker: Broker, accesses: readonly Access[]): Promise<Right[]> => {
  const rights: Right[] = [];
  for (const access of accesses) {
    const probe = probeFor(access, operations);
    // oxlint-disable-next-line no-await-in-loop -- one after the other, so as not to meet a rate limit
    if (probe !== undefined) rights.push(await askRight(broker, access, probe));
  }
  return rights;
};

const isExport = (access: Access): boolean => !access.includes(" ");

/** Rights with what they share said once: `Dispute Management : READ UPDATE, audit:read`. */
const listed = (rights: readonly Access[]): string => {
  const areas = new Map<string, string[]>();
  for (const right of rights) {
    const [area = "", action] = right.split(" : ");
    areas.set(area, [...(areas.get(area) ?? []), ...(action === undefined ? [] : [action])]);
  }
  return [...areas]
    .map(([area, actions]) => (actions.length === 0 ? area : `${area} : ${actions.join(" ")}`))
    .join(", ");
};

/** What the credential for one service may do, of what its tools need. */
const rightsCheck = (check: string, rights: readonly Right[]): Check => {
  const failed = rights.find((right) => "problem" in right);
  if (failed !== undefined && "problem" in failed) {
    const { problem } = failed;
    return problemCheck(problem.code === "forbidden_tenant" ? "tenant" : check, problem);
  }
  const lacking = rights.flatMap((right) => ("held" in right && !right.held ? [right.access] : []));
  if (lacking.length === 0) return fine(check, listed(rights.map(({ access }) => access)));
  const hint = "Ask for these rights, or leave the tools out with RECEIVABLES_TOOLSETS.";
  return fault(check, `lacks ${listed(lacking)}`, hint);
};

const refusedTools = (config: Config, rights: readonly Right[]) => {
  const lacking = new Set(
    rights.flatMap((right) => ("held" in right && !right.held ? [right.access] : [])),
  );
  return activeTools(config.mcp)
    .filter(({ operation }) => lacking.has(operation.access))
    .map(({ name, operation }) => ({ tool: name, permission: operation.access }));
};

const withPlatform = async (config: Config): Promise<{ checks: Check[]; rights: Right[] }> => {
  const composed = await compose(config, createLog("silent"));
  try {
    const { broker } = composed;
    const credential = await credentialCheck(broker);
    const used = activeTools(config.mcp).map(({ operation }) => operation);
    const wanted = needed(used).filter((access) => credential.ok || isExport(access));
    const rights = await rightsOf(broker, wanted);
    const [exports, gateway] = [
      rights.filter(({ access }) => isExport(access)),
      rights.filter(({ access }) => !isExport(access)),
    ];
    return {
      rights,
      checks: [
        credential,
        ...(gateway.length > 0 ? [rightsCheck("permissions", gateway)] : []),
        ...(exports.length > 0 ? [rightsCheck("export_key", exports)] : []),
      ],
    };
  } finally {
    await composed.close();
  }
};

/** Checks each link from the settings to the records; the first fault of each with what to do about it. */
export const doctor = async (io: Io): Promise<void> => {
  const { print, tell } = io;
  const config = await withProfile(io.config);
  const checks = [settingsCheck(config), await folderCheck(config), ...(await addresses(config))];
  const reachable = checks.every(
    ({ check, ok }) => ok || check === "settings" || check === "clock",
  );
  const { checks: more, rights } = reachable
    ? await withPlatform(config)
    : { checks: [], rights: [] };
  const all = [...checks, ...more];
  for (const { check, ok, found, hint } of all) {
    tell(`${ok ? "ok   " : "FAULT"} ${check.padEnd(14)} ${found}`);
    if (hint !== undefined) tell(`      ${"".padEnd(14)} ${hint}`);
  }
  const faults = all.filter(({ ok }) => !ok).length;
  print({ ok: faults === 0, checks: all, refusedTools: refusedTools(config, rights) });
  if (faults > 0) throw new Error(`${faults} of ${all.length} checks found a fault.`);
};
