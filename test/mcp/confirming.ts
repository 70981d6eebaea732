import type { Result } from "./hosts.ts";
import { type Play, scripted, type ScriptedBroker } from "./script.ts";

export const ARGS = { departmentId: "dep-1" };

const SALES = { departmentId: "dep-1", code: "SALES", description: "Sales and service" };

export const deleting = (who?: { tenantId?: string; principal?: string }) =>
  scripted(
    {
      "departments.get": () => SALES,
      "departments.get_by_id": () => SALES,
      "departments.delete": () => null,
      "departments.delete_by_code": () => null,
    },
    who,
  );

/** Returns the calls that were changes. */
export const acts = ({ seen }: ScriptedBroker) =>
  seen.filter(({ id }) => !/\.(get(_by_id)?|list)$/.test(id));

export const DISPUTE = {
  disputeId: "d",
  disputeCode: "D-INV-1-01",
  accountName: "Juniper Street Hardware",
  accountNumber: "100234",
  amount: 9108.2,
  currencyCode: "USD",
};

export const UPDATING: Record<string, Play> = {
  "disputes.get": () => DISPUTE,
  "resolutions.get": ({ resolutionCode }) => ({
    resolutionId: "r-1",
    code: resolutionCode,
    active: true,
  }),
  "disputes.update": ({ disputeId }) => ({ disputeId }),
};

export const confirmationIn = (result: Result) =>
  result._meta?.["receivables/confirmation"] as {
    confirmationToken: string;
    expiresAt: string;
    summary: string;
  };
