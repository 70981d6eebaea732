import { DatabaseSync } from "node:sqlite";
import type { Dispute } from "../../src/contract/operations/disputes.ts";
import { createDice } from "./dice.ts";
import { importDisputes } from "./importing.ts";
import { ndjson } from "./payment-rows.ts";
import { DISPUTES, type Person, type TestPlatform } from "./platform.ts";

const DAY = 86_400_000;
const FIRST_DAY = Date.UTC(2025, 8, 1);

export const STATUSES = ["Open", "Closed", "Canceled"];

/** The account of a numbered document. */
export const toAccount = (document: number): number => (document % 9) + 1;

/** Loads disputes with open, closed and canceled ones, several currencies, equal amounts and times at the ends of days. */
export const loadDisputes = async (
  at: TestPlatform,
  tenantId: string,
  admin: Person,
  { count, seed }: { count: number; seed: number },
): Promise<void> => {
  const dice = createDice(seed);
  const rows = Array.from({ length: count }, (_, number) => {
    const created = FIRST_DAY + dice.whole(0, 170) * DAY + dice.pick([0, 1000, DAY - 1]);
    const status = dice.pick([0, 0, 1, 1, 2]);
    const closed = created + dice.whole(0, 40) * DAY;
    const document = dice.whole(1, 60);
    const account = toAccount(document);
    return {
      accountNumber: `ACC-${account}`,
      accountName: `Account ${account} Ltd`,
      documentNumber: `INV-${document}`,
      poNumber: `PO-${number}`,
      amount: dice.whole(1, 10) * 6.25,
      currencyCode: dice.pick(["USD", "EUR"]),
      categoryCode: dice.pick(["PRICE", "QUALITY"]),
      reasonCode: dice.pick(["WRONG", "DAMAGED"]),
      ...(dice.chance(0.6) ? { assigneeEmail: dice.pick(["ana@x.example", "bo@x.example"]) } : {}),
      createDate: new Date(created).toISOString(),
      status,
      ...(status === 0 ? {} : { closedDate: new Date(closed).toISOString() }),
      ...(status === 1 && dice.chance(0.5) ? { resolutionCode: "CREDIT" } : {}),
    };
  });
  const how = { format: "ndjson" as const, createConfiguration: true };
  const { rejects } = await importDisputes(at, tenantId, ndjson(rows), how);
  if (rejects.length > 0) throw new Error(JSON.stringify(rejects[0]));
  const { body } = await admin.call("GET", `${DISPUTES}?Sort=DisputeCode`);
  const reopened = (body as Dispute[]).filter(({ status }) => status === 1).slice(0, 5);
  for (const { disputeId } of reopened) {
    // oxlint-disable-next-line no-await-in-loop -- one writer
    await admin.call("PUT", `${DISPUTES}/${disputeId}`, { body: { status: 0 } });
  }
};

/** The disputes as REST has them in a database of their own; amounts in hundredths, times in days and milliseconds. */
export const readIntoDatabase = async (admin: Person): Promise<DatabaseSync> => {
  const { body } = await admin.call("GET", DISPUTES);
  const database = new DatabaseSync(":memory:");
  database.exec(
    `create table d (code, account, accountName, document, currency, cents, reason, category, department,
      assignee, resolution, valid, status, createdAt, closedAt, updatedAt)`,
  );
  const insert = database.prepare(`insert into d values (${Array(16).fill("?").join(", ")})`);
  for (const one of body as Dispute[]) {
    insert.run(
      one.disputeCode,
      one.accountNumber,
      one.accountName ?? null,
      one.documentNumber,
      one.currencyCode,
      Math.round(one.amount * 100),
      one.reasonName,
      one.categoryName,
      one.departmentName,
      one.assigneeName,
      one.resolutionCode,
      Number(one.isValid),
      STATUSES[one.status] ?? null,
      one.createDate,
      one.closedDate,
      one.updateDate,
    );
  }
  return database;
};

const SPANS: Record<string, string> = {
  day: "strftime('%Y-%m-%d', X)",
  week: "strftime('%G-W%V', X)",
  month: "strftime('%Y-%m', X)",
  quarter: "strftime('%Y', X) || '-Q' || ((strftime('%m', X) + 2) / 3)",
  year: "strftime('%Y', X)",
};

const AGE = `case when age <= 30 then '0-30' when age <= 60 then '31-60' when age <= 90 then '61-90' else '91+' end`;

const expressionOf = (grouping: string): string => {
  if (grouping === "age") return AGE;
  const [name = "", unit] = grouping.split(":");
  return unit === undefined ? name : (SPANS[unit] ?? "X").replaceAll("X", `${name}At`);
};

/** Groups disputes as they stood at the end of a day, or stand now, by SQL. */
export const groupDisputes = (
  database: DatabaseSync,
  {
    groupBy,
    where = "1",
    day,
    isPast,
  }: { groupBy: string[]; where?: string; day: string; isPast: boolean },
): Record<string, unknown>[] => {
  const end = `'${day}T23:59:59.999Z'`;
  const then = isPast
    ? `select *, case when closedAt is not null and closedAt > ${end} then 'Open' else status end as s,
        case when closedAt > ${end} then null else closedAt end as c from d where createdAt <= ${end}`
    : "select *, status as s, closedAt as c from d";
  const keys = [...groupBy.map(expressionOf), "currency"];
  const named = keys.map((key, place) => `${key} as k${place}`).join(", ");
  return database
    .prepare(
      `with t as (${then}),
        v as (select code, account, accountName, document, currency, cents, reason, category, department, assignee,
          resolution, valid, s as status, createdAt, c as closedAt, updatedAt,
          julianday('${day}') - julianday(substr(createdAt, 1, 10)) as age,
          julianday(substr(c, 1, 10)) - julianday(substr(createdAt, 1, 10)) as days from t)
       select ${named}, count(*) as count, sum(cents) / 100.0 as amount, min(createdAt || ' ' || code) as oldest,
         round(avg(case when status = 'Open' then age end) + 1e-9, 1) as avgAgeDays,
         round(avg(case when status = 'Closed' then days end) + 1e-9, 1) as avgDaysToClose
       from v where ${where} group by ${keys.map((_, place) => `k${place}`).join(", ")}`,
    )
    .all()
    .map((row) => ({ ...row }));
};
