import type { Dice } from "../../support/dice.ts";
import type { Asked } from "../records.ts";
import type { TenantId } from "../settings.ts";

type State = { name: string | null; phone: string | null };

export const noAccount: State = { name: null, phone: null };

const pathOf = (number: string): string => `/api/v1/ingest/accounts/${number}`;

const shows: Asked<State>["shows"] = (body, { name, phone }) =>
  body.name === name && (body.phone ?? null) === phone;

export const readAccount = (number: string): Asked<State> => ({
  method: "GET",
  path: pathOf(number),
  as: "ingest",
  effect: (before) => ({ status: before.name === null ? 404 : 200, after: before }),
  shows,
});

/** A request to one account: it is created, replaced, changed or read. */
export const askAccount = (dice: Dice, number: string, tenantId: TenantId): Asked<State> => {
  const method = dice.pick(["POST", "PUT", "PUT", "PATCH", "PATCH", "GET"]);
  if (method === "GET") return readAccount(number);
  const name = `${tenantId} ${dice.whole(1, 99)}`;
  const phone = dice.pick([null, "1", "2"]);
  return {
    method,
    path: pathOf(number),
    as: "ingest",
    body:
      method === "PATCH"
        ? { phone }
        : { name, currency: "EUR", ...(phone === null ? {} : { phone }) },
    effect(before) {
      const exists = before.name !== null;
      if (method === "PATCH") {
        return exists
          ? { status: 200, after: { ...before, phone } }
          : { status: 404, after: before };
      }
      if (method === "POST" && exists) return { status: 409, after: before };
      return { status: exists ? 200 : 201, after: { name, phone } };
    },
    shows,
  };
};

/** Notes of accounts have references that are unique in the tenant and never change. */
export type NoteState = { account: string | null };

export const noNote: NoteState = { account: null };

const noteShows: Asked<NoteState>["shows"] = (body, { account }) =>
  (body.account_number ?? body.accountNumber) === account;

export const askAccountNote = (
  dice: Dice,
  reference: string,
  accounts: readonly string[],
): Asked<NoteState> => {
  const account = dice.pick(accounts);
  if (dice.chance(0.3)) {
    return {
      method: "GET",
      path: `${pathOf(account)}/notes/${reference}`,
      as: "ingest",
      effect: (before) => ({ status: before.account === account ? 200 : 404, after: before }),
    };
  }
  return {
    method: "POST",
    path: `${pathOf(account)}/notes`,
    as: "ingest",
    body: { reference, body: `about ${account}` },
    effect: (before) =>
      before.account === null
        ? { status: 201, after: { account } }
        : { status: 409, after: before },
    shows: noteShows,
  };
};
