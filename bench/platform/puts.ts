import type { Contract } from "../../src/contract/index.ts";
import type { Call } from "../../src/platform/handlers.ts";
import { documents } from "../../src/platform/services/documents.ts";
import type { Bench } from "./ledger.ts";

const refuseSeal = (): never => {
  throw new Error("the benchmark needs no cursor");
};

const { replace } = documents({
  seal: { seal: refuseSeal, open: refuseSeal, renew: refuseSeal },
});

/** A document that differs from what was put before. */
export const documentOf = (number: number) => ({
  account_number: `account-${number % 100}`,
  invoice_date: "2026-03-01",
  due_date: "2026-03-31",
  currency: "USD",
  original_denomination: 125.5,
  denomination: (100 + (number % 10_000)) / 100,
  po_number: `PO ${number}`,
});

const refuse = (): never => {
  throw new Error("a document of the benchmark was refused");
};

/** Puts one document through the service's own function, with the transaction that a request has and nothing around it. */
export const bareReplace = ({ store, ledgers }: Bench, number: number): Promise<unknown> => {
  const call: Call<Contract["documents"]["replace"]> = {
    tenantId: ledgers[0]?.tenantId ?? "",
    now: Date.now(),
    ip: "",
    origin: "api",
    caller: { id: "bench", email: "", via: "export-key", credentialId: "bench", may: new Set() },
    ifMatch: null,
    ifNoneMatch: null,
    db: store.read,
    change: (act) => store.transaction(act),
    baseUrl: refuse,
    snapshot: refuse,
    fail: refuse,
    refuse,
    invalid: refuse,
  };
  const input = {
    params: { document_number: `bare-${number}` },
    query: {},
    body: documentOf(number),
  };
  return replace(input, call);
};
