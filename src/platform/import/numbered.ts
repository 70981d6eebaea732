import { z } from "zod";
import { IngestNumber } from "../../contract/ingest-fields.ts";
import type { Clock } from "../../kit/clock.ts";
import { checked, type Checked, type Fields } from "../services/ingest/body.ts";
import { type Fields as FieldNames, fieldsOf } from "./fields.ts";

/** What a target of the ingest API's records is made of. */
export type Needs = { tenantId: string; clock: Clock };

/** A record's number and what a request to its path would send; the service's rules check that. */
export type Numbered = { number: string; sent: Fields };

type Reading = {
  fields: FieldNames;
  batchRows: number;
  parse(record: Fields): Checked<Numbered>;
};

// A commit waits for the disk, however little it writes.
const BATCH_ROWS = 2500;

/** Reads rows that bear their record's number beside the fields of its body. */
export const numbered = (key: string, body: z.ZodObject): Reading => {
  const whole = z.object({ [key]: IngestNumber, ...body.shape });
  return {
    fields: fieldsOf(whole),
    batchRows: BATCH_ROWS,
    parse(record) {
      const { [key]: number, ...sent } = record;
      const { data } = IngestNumber.safeParse(number);
      if (data !== undefined) return { value: { number: data, sent } };
      const { faults = [] } = checked(whole, record);
      return { faults };
    },
  };
};
