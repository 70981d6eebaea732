import type { Dice } from "../../support/dice.ts";
import type { Asked, Tracked } from "../records.ts";
import type { TenantId } from "../settings.ts";

type State = { phase: "none" | "live" | "gone"; amount: number; status: number };
export type DisputeState = State;

/** A dispute; its PO number is its name, because its id is not known when its answer is lost. */
export type TrackedDispute = Tracked<State> & {
  documentNumber: string;
  id?: string;
  code?: string;
  /** The Idempotency-Key of its creation, and when it was first sent. */
  key?: { text: string; sentAt: number; amount: number };
};

export const noDispute: State = { phase: "none", amount: 0, status: 0 };

const OPEN = 0;
const CLOSED = 1;
const CANCELED = 2;

const pathOf = (tenantId: TenantId, id = ""): string =>
  `/dispute/v1/tenants/${tenantId}/disputes${id === "" ? "" : `/${id}`}`;

const shows: Asked<State>["shows"] = (body, { amount, status }) =>
  body.amount === amount &&
  body.status === status &&
  (body.closedDate === null) === (status === OPEN);

/** Creates the dispute. A key makes it the same request each time. */
export const createDispute = (
  dispute: TrackedDispute,
  amount: number,
  onFault: (fault: string) => void,
): Asked<State> => {
  const { tenantId, name, documentNumber, key } = dispute;
  return {
    method: "POST",
    path: pathOf(tenantId),
    as: "gateway",
    ...(key === undefined ? {} : { headers: { "Idempotency-Key": key.text } }),
    body: {
      amount,
      accountNumber: `${tenantId}-1`,
      documentNumber,
      reasonCode: "WRONG",
      poNumber: name,
    },
    effect: (before) => ({
      status: 201,
      after: before.phase === "none" ? { phase: "live", amount, status: OPEN } : before,
    }),
    learn(body) {
      if (dispute.id !== undefined && dispute.id !== body.disputeId) {
        onFault(`${name} was created twice with one Idempotency-Key`);
      }
      dispute.id = body.disputeId;
      dispute.code = body.disputeCode;
    },
  };
};

export const readDispute = ({ tenantId, id = "" }: TrackedDispute): Asked<State> => ({
  method: "GET",
  path: pathOf(tenantId, id),
  as: "gateway",
  effect: (before) => ({ status: before.phase === "live" ? 200 : 404, after: before }),
  shows,
});

const change = (
  { tenantId, id = "" }: TrackedDispute,
  body: object,
  effect: (before: State) => { status: number; after: State },
): Asked<State> => ({
  method: "PUT",
  path: pathOf(tenantId, id),
  as: "gateway",
  body,
  effect: (before) => (before.phase === "live" ? effect(before) : { status: 404, after: before }),
  shows,
});

const moveTo = (dispute: TrackedDispute, status: number): Asked<State> =>
  change(
    dispute,
    { status, ...(status === CLOSED ? { resolutionCode: "CREDIT" } : {}) },
    (before) =>
      before.status === status || before.status === OPEN || status === OPEN
        ? { status: 200, after: { ...before, status } }
        : { status: 409, after: before },
  );

const setAmount = (dispute: TrackedDispute, amount: number): Asked<State> =>
  change(dispute, { amount }, (before) =>
    before.status === OPEN || before.amount === amount
      ? { status: 200, after: { ...before, amount } }
      : { status: 409, after: before },
  );

const remove = ({ tenantId, id = "" }: TrackedDispute): Asked<State> => ({
  method: "DELETE",
  path: pathOf(tenantId, id),
  as: "gateway",
  effect: (before) =>
    before.phase === "live"
      ? { status: 204, after: { ...before, phase: "gone" } }
      : { status: 404, after: before },
});

/** What the closure of its document does to the dispute, as the tenant has chosen a resolution for that. */
export const endByClosure = ({ documentNumber }: TrackedDispute): Asked<State> => ({
  method: "the closure of",
  path: documentNumber,
  as: "ingest",
  effect: (before) => ({
    status: 200,
    after:
      before.phase === "live" && before.status === OPEN ? { ...before, status: CLOSED } : before,
  }),
});

/** A request to a dispute whose id is known. */
export const askDispute = (dice: Dice, dispute: TrackedDispute): Asked<State> =>
  dice.weigh<() => Asked<State>>([
    [() => readDispute(dispute), 2],
    [() => setAmount(dispute, dice.whole(1, 9)), 3],
    [() => moveTo(dispute, CLOSED), 2],
    [() => moveTo(dispute, CANCELED), 1],
    [() => moveTo(dispute, OPEN), 2],
    [() => remove(dispute), 1],
  ])();
