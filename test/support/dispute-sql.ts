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

const OFFSETS = [0, 0, 120, 330, -300, -720, 840];

/** A moment as a clock of another time zone shows it, so that its day may differ from that in UTC. */
const formatLocal = (at: number, minutes: number): string => {
  if (minutes === 0) return new Date(at).toISOString();
  const local = new Date(at + minutes * 60_000).toISOString().slice(0, -1);
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  const two = (part: number): string => String(part).padStart(2, "0");
  return `${local}${minutes < 0 ? "-" : "+"}${two(hours)}:${two(rest)}`;
};

/** Closes and opens disputes as people do: some are open again, some were closed again later, and some canceled. */
const reopen = async (admin: Person, closed: readonly Dispute[]): Promise<void> => {
  for (const [place, { disputeId }] of closed.entries()) {
    const statuses = [[0], [0, 1], [0, 1, 0], [0, 2]][place % 4] ?? [];
    for (const status of statuses) {
      const { text, status: code } = await admin.call("PUT", `${DISPUTES}/${disputeId}`, {
        body: { status },
      });
      if (code !== 200) throw new Error(text);
    }
  }
};

/**
 * Returns when the reopened ones had been closed before, by id. Loads disputes with open, closed, canceled and reopened ones, several currencies, equal amounts, and times at the ends
 * of days in UTC that are written in other time zones.
 */
export const loadDisputes = async (
  at: TestPlatform,
  tenantId: string,
  admin: Person,
  { count, seed }: { count: number; seed: number },
): Promise<ReadonlyMap<string, string | null>> => {
  const dice = createDice(seed);
  const rows = Array.from({ length: count }, (_, number) => {
    const created = FIRST_DAY + dice.whole(0, 170) * DAY + dice.pick([0, 1000, DAY - 1]);
    const status = dice.pick([0, 0, 1, 1, 2]);
    const closed = created + dice.whole(0, 40) * DAY;
    const document = dice.whole(1, 60);
    const account = toAccount(document);
    return {
      accountNumber: `ACC-${account}`,
      ...(dice.chance(0.9) ? { accountName: `Account ${account} Ltd` } : {}),
      documentNumber: `INV-${document}`,
      poNumber: `PO-${number}`,
      amount: dice.whole(1, 10) * 6.25,
      currencyCode: dice.pick(["USD", "EUR"]),
      categoryCode: dice.pick(["PRICE", "QUALITY"]),
      reasonCode: dice.pick(["WRONG", "DAMAGED"]),
      ...(dice.chance(0.6) ? { assigneeEmail: dice.pick(["ana@x.example", "bo@x.example"]) } : {}),
      createDate: formatLocal(created, dice.pick(OFFSETS)),
      status,
      ...(status === 0 ? {} : { closedDate: formatLocal(closed, dice.pick(OFFSETS)) }),
      ...(status === 1 && dice.chance(0.5) ? { resolutionCode: "CREDIT" } : {}),
    };
  });
  const how = { format: "ndjson" as const, createConfiguration: true };
  const { rejects } = await importDisputes(at, tenantId, ndjson(rows), how);
  if (rejects.length > 0) throw new Error(JSON.stringify(rejects[0]));
  const { body } = await admin.call("GET", `${DISPUTES}?Sort=DisputeCode`);
  const all = body as Dispute[];
  const sent = new Map(rows.map(({ poNumber, createDate }) => [poNumber, Date.parse(createDate)]));
  const moved = all.find((one) => Date.parse(one.createDate) !== sent.get(one.poNumber ?? ""));
  if (moved !== undefined) throw new Error(`${moved.poNumber} was created on ${moved.createDate}`);
  const reopened = all.filter(({ status }) => status === 1).slice(0, 12);
  await reopen(admin, reopened);
  return new Map(reopened.map(({ disputeId, closedDate }) => [disputeId, closedDate]));
};

/** The disputes as REST has them in a database of their own; amounts in hundredths, times in days and milliseconds. */
export const readIntoDatabase = async (
  admin: Person,
  closedBefore: ReadonlyMap<string, string | null> = new Map(),
): Promise<DatabaseSync> => {
  const { body } = await admin.call("GET", DISPUTES);
  const database = new DatabaseSync(":memory:");
  database.exec(
    `create table d (code, account, accountName, document, currency, cents, reason, category, department,
      assignee, resolution, valid, status, createdAt, closedAt, updatedAt,
      closedBefore)`,
  );
  const insert = database.prepare(`insert into d values (${Array(17).fill("?").join(", ")})`);
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
      closedBefore.get(one.disputeId) ?? null,
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

const inDays = (name: string): string =>
  `case when ${name} is null then null when ${name} <= 30 then '0-30' when ${name} <= 60 then '31-60'
    when ${name} <= 90 then '61-90' else '91+' end`;

const expressionOf = (grouping: string): string => {
  if (grouping === "age") return inDays("age");
  if (grouping === "daysToClose") return inDays("days");
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
    ? `select *, case when closedBefore <= ${end} then 'Closed' when closedAt is not null and closedAt > ${end} then 'Open' else status end as s,
        case when closedBefore <= ${end} then closedBefore when closedAt > ${end} then null else closedAt end as c,
        closedAt > ${end} and coalesce(closedBefore > ${end}, 1) as undecided from d where createdAt <= ${end}`
    : "select *, status as s, closedAt as c, 0 as undecided from d";
  const keys = [...groupBy.map(expressionOf), "currency"];
  const named = keys.map((key, place) => `${key} as k${place}`).join(", ");
  return database
    .prepare(
      `with t as (${then}),
        v as (select code, account, accountName, document, currency, cents, reason, category, department, assignee,
          case when not coalesce(undecided, 0) then resolution end as resolution,
          case when coalesce(undecided, 0) then 0 else valid end as valid, s as status, createdAt, c as closedAt, updatedAt,
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
