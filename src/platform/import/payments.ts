import type { Source } from "../../contract/payments/catalogue.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Db } from "../store/port.ts";
import { createBankCheck, createBankWriter, getBankMoney } from "./payments/bank.ts";
import type { BankPayment } from "./payments/judged.ts";
import { collectSourceFields, createRowCheck, type Values } from "./payments/row.ts";
import { createTableWriter, getTableMoney, identifyPayment, FACTS } from "./payments/table.ts";
import type { Accepted, Journal, Outcome, Target } from "./target.ts";

type Needs = { tenantId: string; clock: Clock; source: Source };

const BATCH_ROWS = 1000;

/** A payment row of a table, or a payment of a bank file with its rows. */
export type PaymentValues = { row: Values } | { bank: BankPayment };

const listOf = <Kept>(
  rows: readonly Accepted<PaymentValues>[],
  keep: (values: PaymentValues) => Kept | undefined,
): Accepted<Kept>[] =>
  rows.flatMap(({ values, ...rest }) => {
    const result = keep(values);
    return result === undefined ? [] : [{ ...rest, values: result }];
  });

/** The form of a payment's row in a table. */
export const createPaymentForm = (source: Source) => ({
  fields: collectSourceFields(source),
  parse: createRowCheck(source, ""),
});

/** Creates the import target of one payment source. */
export const createPaymentTarget = (needs: Needs): Target<PaymentValues> => {
  const { tenantId, source } = needs;
  const check = createRowCheck(source, tenantId);
  const checkBank = createBankCheck(tenantId);
  const table = createTableWriter(needs);
  const bank = createBankWriter(needs);
  const { id } = FACTS[source];
  return {
    kind: "payments",
    fields: collectSourceFields(source),
    batchRows: BATCH_ROWS,
    parse(record) {
      const { value, faults } = check(record);
      return value === undefined ? { faults } : { value: { row: value } };
    },
    parsePayment(item) {
      const { value, faults } = checkBank(item);
      return value === undefined ? { faults } : { value: { bank: value } };
    },
    countRows: (values) => ("row" in values ? 1 : values.bank.rows.length),
    identify: ({ values }) => ("row" in values ? identifyPayment(source, values.row) : undefined),
    getMoney: (values) =>
      "row" in values ? getTableMoney(source, values.row) : getBankMoney(values.bank),
    isContinued: (before, next) =>
      "row" in before && "row" in next
        ? before.row[id] === next.row[id]
        : "bank" in before && "bank" in next && before.bank.entry === next.bank.entry,
    // A file has rows of one of the two kinds only.
    write(tx: Db, rows: readonly Accepted<PaymentValues>[], journal: Journal): Promise<Outcome[]> {
      const ofTable = listOf(rows, (values) => ("row" in values ? values.row : undefined));
      if (ofTable.length > 0) return table.write(tx, ofTable, journal);
      const ofBank = listOf(rows, (values) => ("bank" in values ? values.bank : undefined));
      return bank.write(tx, ofBank, journal);
    },
    close() {
      table.close();
      bank.close();
    },
  };
};
