import type { Result } from "./hosts.ts";
import { type ScriptedReply, scriptBroker, type ScriptedBroker } from "./script.ts";

export const ARGS = { departmentId: "dep-1" };

const SALES = { departmentId: "dep-1", code: "SALES", description: "Sales and service" };

export const createDeletion = (who?: { tenantId?: string; principal?: string }) =>
  scriptBroker(
    {
      "departments.get": () => SALES,
      "departments.get_by_id": () => SALES,
      "departments.delete": () => null,
      "departments.delete_by_code": () => null,
    },
    who,
  );

/** Returns the calls that were changes. */
export const listChanges = ({ seen }: ScriptedBroker) =>
  seen.filter(({ id }) => !/\.(get(_by_id)?|list)$/.test(id));

export const DISPUTE = {
  disputeId: "d",
  disputeCode: "D-INV-1-01",
  accountName: "Juniper Street Hardware",
  accountNumber: "100234",
  amount: 9108.2,
  currencyCode: "USD",
};

export const UPDATE_REPLIES: Record<string, ScriptedReply> = {
  "disputes.get": () => DISPUTE,
  "resolutions.get": ({ resolutionCode }) => ({
    resolutionId: "r-1",
    code: resolutionCode,
    active: true,
  }),
  "disputes.update": ({ disputeId }) => ({ disputeId }),
};

export const readConfirmation = (result: Result) =>
  result._meta?.["receivables/confirmation"] as {
    confirmationToken: string;
    expiresAt: string;
    summary: string;
  };
