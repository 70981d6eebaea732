import {
  type AuditFacts,
  Problem,
  type ProblemDetails,
  type SharedErrorCode,
} from "../../contract/errors.ts";
import { formatTimestamp } from "../../kit/clock.ts";
import { firstCharacters } from "../../kit/text.ts";
import type { RecordVersion } from "../preconditions.ts";
import type { Db } from "../store/port.ts";
import type { DepartmentRow, Flag } from "../store/tables/schema.ts";

type Tracked = Pick<
  DepartmentRow,
  "created_by" | "created_at" | "updated_by" | "updated_at" | "version"
>;

/** The parts of a call that the rules of the configuration use. */
export type Asking = {
  tenantId: string;
  now: number;
  caller: { id: string };
  fail(code: SharedErrorCode, message: string, details?: ProblemDetails): never;
  refuse(field: string, code: string, message: string): never;
};

/** Runs `act`. A refusal that it throws carries the facts to the audit entry. */
export const withAuditFacts = async <T>(audit: AuditFacts, act: () => Promise<T>): Promise<T> => {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw new Problem(error.code, error.message, { ...error.details, audit }, error);
  }
};

/** Runs `act` on a record that the path names by code, so that its audit entry has the id of the record. */
export const withResourceId = async <R extends { body: unknown }>(
  resourceId: string,
  act: () => Promise<R>,
) => ({ ...(await withAuditFacts({ resourceId }, act)), audit: { resourceId } });

const SHOWN_CHARACTERS = 100;

/** Shortens a value for a message. */
export const shorten = (value: string): string => firstCharacters(value, SHOWN_CHARACTERS);

export const describeMissing = (noun: string, key: string, value: string): string =>
  `There is no ${noun} with the ${key} ${shorten(value)}.`;

export const flag = (value: boolean): Flag => (value ? 1 : 0);

export const auditFields = (row: Tracked) => ({
  createUser: row.created_by,
  createDate: formatTimestamp(row.created_at),
  updateUser: row.updated_by,
  updateDate: formatTimestamp(row.updated_at),
});

/** Returns the audit columns of a record that the call creates. */
export const creationFields = ({ caller, now }: Pick<Asking, "caller" | "now">): Tracked => ({
  created_by: caller.id,
  created_at: now,
  updated_by: caller.id,
  updated_at: now,
  version: 1,
});

/** Returns the audit columns of a record that the call changes. */
export const changeFields = (row: Tracked, { caller, now }: Pick<Asking, "caller" | "now">) => ({
  updated_by: caller.id,
  updated_at: now,
  version: row.version + 1,
});

type Find<Row> = (db: Db, tenantId: string, key: string) => Promise<Row | undefined>;

/** Creates a function that finds a record by its id or another key. @throws {Problem} not_found */
export const createFinder =
  <Row>(noun: string, key: string, find: Find<Row>) =>
  async (db: Db, call: Pick<Asking, "tenantId" | "fail">, value: string): Promise<Row> =>
    (await find(db, call.tenantId, value)) ??
    call.fail("not_found", describeMissing(noun, key, value));

/** Creates a function that converts a row to the result of a handler. */
export const createAnswer =
  <Row extends RecordVersion, Body>(toBody: (row: Row) => Body) =>
  (row: Row) => ({ body: toBody(row), version: row, audit: { resourceId: row.id } });

type Naming<Row> = {
  noun: string;
  id: string | undefined;
  code: string | undefined;
  find: { byId: Find<Row>; byCode: Find<Row> };
};

/** Finds the record that a body names by its id, its code or both, which must then agree. */
export const findNamed = async <Row extends { id: string }>(
  db: Db,
  call: Asking,
  { noun, id, code, find }: Naming<Row>,
): Promise<Row> => {
  const unknown = (field: string) => call.refuse(field, "unknown_reference", `names no ${noun}`);
  const byId =
    id === undefined
      ? undefined
      : ((await find.byId(db, call.tenantId, id)) ?? unknown(`${noun}Id`));
  const byCode =
    code === undefined
      ? undefined
      : ((await find.byCode(db, call.tenantId, code)) ?? unknown(`${noun}Code`));
  if (byId !== undefined && byCode !== undefined && byId.id !== byCode.id) {
    return call.refuse(`${noun}Code`, "mismatch", `names another ${noun} than ${noun}Id`);
  }
  return byId ?? byCode ?? call.refuse(`${noun}Id`, "required", `is required, or ${noun}Code`);
};
