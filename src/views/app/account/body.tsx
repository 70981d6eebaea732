import type { ComponentChildren } from "preact";
import { listOf, numberOf, reasonOf, recordOf, totalsOf } from "../answers.ts";
import { count, counted, day, money, plainText, words } from "../format.ts";
import type { Fields } from "../host.ts";
import { DisputeTable } from "../packet/packet.tsx";
import type { Open } from "../place.ts";
import { hasTool } from "../session.ts";
import { Amounts, Facts } from "../ui/facts.tsx";
import { RecordLink } from "../ui/record-link.tsx";
import { Card, Empty } from "../ui/status.tsx";
import { amountColumn, Table } from "../ui/table.tsx";
import { AccountAging } from "./aging.tsx";

type TileProps = { title: string; part: unknown; children: ComponentChildren };

const Tile = ({ title, part, children }: TileProps) => (
  <section class="tile">
    <h2>{title}</h2>
    {reasonOf(part) === undefined ? children : <p class="meta">Not available: {reasonOf(part)}</p>}
  </section>
);

const Tiles = ({ item }: { item: Fields }) => {
  const [documents, payments] = [recordOf(item["openDocuments"]), recordOf(item["payments"])];
  const disputes = recordOf(item["disputes"]);
  const [open, closed] = [recordOf(disputes["open"]), recordOf(disputes["closed"])];
  const last = recordOf(payments["last"]);
  const short = recordOf(payments["shortPayments"]);
  const returned = totalsOf(payments["returned"]);
  return (
    <div class="tiles">
      <Tile title="Open documents" part={item["openDocuments"]}>
        <Amounts totals={totalsOf(documents["totals"])} />
        <p class="meta">{counted(numberOf(documents["count"]), "document")}</p>
      </Tile>
      <Tile title="Open disputes" part={item["disputes"]}>
        <Amounts totals={totalsOf(open["totals"])} />
        <p class="meta">
          {counted(numberOf(open["count"]), "dispute")}; {numberOf(closed["count"])} closed
          {typeof closed["avgDaysToClose"] === "number" &&
            `, after ${closed["avgDaysToClose"]} days on average`}
        </p>
      </Tile>
      <Tile title="Paid in 90 days" part={item["payments"]}>
        <Amounts totals={totalsOf(payments["totals"])} />
        <p class="meta">
          {counted(numberOf(payments["count"]), "payment")}
          {last["paymentDate"] !== undefined && `; last on ${day(last["paymentDate"])}`}
        </p>
        {returned.length > 0 && (
          <p class="meta">
            Returned and taken off:{" "}
            {returned.map(({ amount, currencyCode }) => money(amount, currencyCode)).join("; ")}
          </p>
        )}
      </Tile>
      <Tile title="Short payments in 90 days" part={item["payments"]}>
        <Amounts totals={totalsOf(short["deductions"])} />
        <p class="meta">{counted(numberOf(short["count"]), "short payment")}</p>
      </Tile>
    </div>
  );
};

const accountFacts = (account: Fields) =>
  [
    ["Number", plainText(account["accountNumber"])],
    ["Group", plainText(account["accountGroup"])],
    ["Parent account", plainText(account["parentAccountNumber"])],
    ["Currency", plainText(account["currency"])],
    ["Payment terms", plainText(account["paymentTerms"])],
    ["Credit limit", money(account["creditLimit"], account["currency"])],
    ["E-mail", plainText(account["email"])],
  ] as const;

/** Warnings are 1 or 0; only those that are set are shown. */
const scoreOf = (name: string, value: unknown): string => {
  if (name.endsWith("Flag")) return value === 0 ? "" : "Yes";
  return typeof value === "number" ? count(value) : day(value);
};

const creditFacts = (credit: Fields) => {
  const scores = recordOf(credit["scores"]);
  const figures = Object.entries(scores).filter(
    ([name, value]) =>
      !name.endsWith("Id") && (typeof value === "number" || typeof value === "string"),
  );
  return [
    ["Application", plainText(credit["applicationStatus"])],
    ...figures.map(([name, value]) => [words(name), scoreOf(name, value)] as const),
  ] as const;
};

const Oldest = ({ rows, open }: { rows: readonly Fields[]; open: Open }) =>
  rows.length === 0 ? (
    <Empty>No open documents.</Empty>
  ) : (
    <Table
      caption="Oldest open documents"
      rows={rows}
      keyOf={(row) => plainText(row["documentNumber"])}
      columns={[
        {
          name: "Document",
          isWhole: true,
          cell: ({ documentNumber }) => (
            <RecordLink
              record={{ kind: "document", id: plainText(documentNumber) }}
              open={hasTool("documents_get") ? open : undefined}
            />
          ),
        },
        { name: "Due", isWhole: true, cell: (row) => day(row["dueDate"]) },
        amountColumn("Balance", "balance"),
      ]}
    />
  );

const ShortPayments = ({ rows, currency }: { rows: readonly Fields[]; currency: unknown }) =>
  rows.length === 0 ? (
    <Empty>None.</Empty>
  ) : (
    <Table
      caption="Latest short payments"
      rows={rows}
      keyOf={(_row, place) => String(place)}
      columns={[
        { name: "Date", isWhole: true, cell: (row) => day(row["paymentDate"]) },
        { name: "Document", isWhole: true, cell: (row) => plainText(row["documentNumber"]) },
        {
          name: "Code",
          cell: (row) => plainText(row["deductionReasonCode"]) || "–",
          isMinor: true,
        },
        {
          name: "Deducted",
          isNumber: true,
          cell: (row) => money(row["deductionAmount"], currency),
        },
      ]}
    />
  );

const AccountNotes = ({ notes }: { notes: readonly Fields[] }) =>
  notes.length === 0 ? (
    <Empty>No notes.</Empty>
  ) : (
    <ol class="timeline">
      {notes.map((note, place) => (
        <li key={place}>
          <p class="meta">
            {day(note["date"])} {plainText(note["reference"])}
          </p>
          <p class="prose">{plainText(note["text"])}</p>
        </li>
      ))}
    </ol>
  );

/** The parts of one account; a part that the platform does not give says why. */
export const AccountBody = ({ item, open }: { item: Fields; open: Open }) => {
  const account = recordOf(item["account"]);
  const documents = recordOf(item["openDocuments"]);
  const disputes = recordOf(recordOf(item["disputes"])["open"]);
  const short = recordOf(recordOf(item["payments"])["shortPayments"]);
  const currencies = totalsOf(short["deductions"]);
  // The rows have no currency of their own: it is known only where all deductions have the same.
  const currency = currencies.length === 1 ? currencies[0]?.currencyCode : undefined;
  return (
    <>
      <section class="card">
        <h2>Account</h2>
        <Facts facts={accountFacts(account)} />
      </section>
      <Tiles item={item} />
      {reasonOf(documents) === undefined && (
        <AccountAging daysPastDue={recordOf(documents["daysPastDue"])} />
      )}
      <div class="columns">
        <Card title="Oldest open documents" part={documents}>
          <Oldest rows={listOf(documents["oldest"])} open={open} />
        </Card>
        <Card title="Largest open disputes" part={item["disputes"]}>
          {listOf(disputes["largest"]).length === 0 ? (
            <Empty>No open disputes.</Empty>
          ) : (
            <DisputeTable
              caption="Largest open disputes"
              rows={listOf(disputes["largest"])}
              open={hasTool("dispute_packet") ? open : undefined}
            />
          )}
        </Card>
      </div>
      <div class="columns">
        <Card title="Latest short payments" part={item["payments"]}>
          <ShortPayments rows={listOf(short["latest"])} currency={currency} />
        </Card>
        <Card title="Credit" part={item["credit"]}>
          <Facts facts={creditFacts(recordOf(item["credit"]))} />
        </Card>
        <Card title="Notes" part={item["notes"]}>
          <AccountNotes notes={listOf(item["notes"])} />
        </Card>
      </div>
    </>
  );
};
