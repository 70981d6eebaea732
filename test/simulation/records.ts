import type { TenantId } from "./settings.ts";

/** A request and what it does to a record by the documents, and no word of the platform's code. */
export type Asked<S> = {
  method: string;
  path: string;
  as: "gateway" | "ingest" | "export" | "visitor" | "guess";
  body?: unknown;
  raw?: Uint8Array<ArrayBuffer>;
  headers?: Record<string, string>;
  /** The status that answers it and the state after it, for each state before it. */
  effect(before: S): { status: number; after: S };
  /** Whether a conflict says that the request did nothing, in any state. */
  isRefused?(body: Body): boolean;
  /** Whether a good answer shows the state. */
  shows?(body: Body, state: S): boolean;
  /** Reads what the answer tells beside the state, such as the record's id. */
  learn?(body: Body): void;
};

// oxlint-disable-next-line typescript/no-explicit-any -- answers are looked into freely
export type Body = any;

/** What became of a request. A lost one has no answer, because its process ended. */
export type Outcome =
  | { kind: "answered"; status: number; body: Body }
  | { kind: "lost"; applied: boolean | undefined };

/** A record under test with every state that the answers so far allow. */
export type Tracked<S> = {
  name: string;
  tenantId: TenantId;
  states: S[];
  /** A request of this step depends on it, so no other may delete it meanwhile. */
  isBusy?: boolean;
};

export type Done<S> = { asked: Asked<S>; outcome: Outcome; text: string };

const isRefused = (asked: Pick<Asked<never>, "isRefused">, status: number, body: Body): boolean =>
  [401, 403, 429, 507].includes(status) ||
  body?.code === "idempotency_in_progress" ||
  (status === 409 && asked.isRefused?.(body) === true);

type Step<S> = (state: S) => S[];

const toStep = <S>({ asked, outcome }: Done<S>): Step<S> => {
  const apply = (state: S): S[] => [asked.effect(state).after];
  if (outcome.kind === "lost") {
    if (outcome.applied !== undefined) return outcome.applied ? apply : (state) => [state];
    return (state) => [state, ...apply(state)];
  }
  const { status, body } = outcome;
  if (isRefused(asked, status, body)) return (state) => [state];
  // The change may have been committed before the failure.
  if (status >= 500) return (state) => [state, ...apply(state)];
  return (state) => {
    const { status: expected, after } = asked.effect(state);
    if (status !== expected) return [];
    const isShown = body === undefined || status >= 300 || asked.shows?.(body, after) !== false;
    return isShown ? [after] : [];
  };
};

const permute = <T>(items: readonly T[]): T[][] =>
  items.length < 2
    ? [[...items]]
    : items.flatMap((item, index) =>
        permute(items.toSpliced(index, 1)).map((rest) => [item, ...rest]),
      );

const distinct = <S>(states: readonly S[]): S[] => [
  ...new Map(states.map((state) => [JSON.stringify(state), state])).values(),
];

/**
 * Returns the states in which a record may be after requests that ran at the same time: those that some order of the
 * requests explains, with every answer. None: no order does.
 */
export const explain = <S>(before: readonly S[], done: readonly Done<S>[]): S[] =>
  distinct(
    permute(done.map(toStep)).flatMap((order) =>
      order.reduce<S[]>((states, step) => states.flatMap(step), [...before]),
    ),
  );
