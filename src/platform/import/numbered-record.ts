import { z } from "zod";
import type { Fault } from "../../contract/errors.ts";
import type { Checked } from "../../contract/faults.ts";
import { IngestNumber } from "../../contract/ingest-fields.ts";
import { checkValue, type Fields } from "../services/ingest/body.ts";
import { type Fields as FieldNames, collectFields, type Roles } from "./fields.ts";
import type { RowIdentity } from "./target.ts";

/** A record's number and the body that a request to its path would send; the service's rules check the body. */
export type NumberedRecord = { number: string; sent: Fields };

type RecordFormat = {
  fields: FieldNames;
  batchRows: number;
  parse(record: Fields): Checked<NumberedRecord>;
  identify(row: { values: NumberedRecord }): RowIdentity;
};

/** The rules of an import file beside the schema of a body. */
type Rules = {
  roles?: Roles;
  /** Converts the body of a row to what a request would send, and returns the faults that only imports have. */
  prepare?: (sent: Fields) => { sent: Fields; faults: readonly Fault[] };
};

/** Describes rows that contain their record's number in the field `key` beside the fields of its body. */
export const describeNumbered = (
  key: string,
  body: z.ZodObject,
  { roles = {}, prepare }: Rules = {},
): RecordFormat => {
  const whole = z.object({ [key]: IngestNumber, ...body.shape });
  return {
    fields: collectFields(whole, { ...roles, [key]: { role: "key", required: key } }),
    // Every commit waits for the disk, so batches are large.
    batchRows: 2500,
    parse(record) {
      const { [key]: number, ...named } = record;
      const { sent, faults: found } = prepare?.(named) ?? { sent: named, faults: [] };
      const { data } = IngestNumber.safeParse(number);
      if (data !== undefined && found.length === 0) return { value: { number: data, sent } };
      const { faults = [] } = checkValue(whole, record);
      const fields = new Set(faults.map(({ field }) => field));
      return { faults: [...faults, ...found.filter(({ field }) => !fields.has(field))] };
    },
    identify: ({ values: { number, sent } }) => ({
      field: key,
      key: number,
      facts: [JSON.stringify(sent)],
    }),
  };
};
