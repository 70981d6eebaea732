import { useEffect, useRef } from "preact/hooks";
import { listOf, textsOf } from "../answers.ts";
import { cell, day, money, plainText, words } from "../format.ts";
import type { Fields } from "../host.ts";
import { DisputeTable } from "../packet/packet.tsx";
import type { Open } from "../place.ts";
import { hasTool } from "../session.ts";
import { Facts } from "../ui/facts.tsx";
import { RecordLink } from "../ui/record-link.tsx";
import { Badge, Card, Empty, Failure, Loading, Notes } from "../ui/status.tsx";
import { Table } from "../ui/table.tsx";
import { useCall } from "../ui/use-call.ts";

const LIST = "disputes_list";
const MOST_DISPUTES = 50;

const documentFacts = (document: Fields, open: Open) => {
  const currency = document["currency"];
  const account = plainText(document["account_number"]);
  const amount = (name: string): string =>
    document[name] === undefined || document[name] === null ? "" : money(document[name], currency);
  return [
    ["Type", words(plainText(document["document_type"]))],
    ["Account", <RecordLink key="account" record={{ kind: "account", id: account }} open={open} />],
    ["Issued", day(document["invoice_date"])],
    ["Due", day(document["due_date"])],
    ["Amount", amount("original_denomination")],
    ["Balance", amount("denomination")],
    ["Tax", amount("tax_amount")],
    ["Freight", amount("freight_amount")],
    ["Purchase order", plainText(document["po_number"])],
    ["Customer's number", plainText(document["invoice_num"])],
    ["Closed", day(document["closedAt"])],
    ["Reason of closing", words(plainText(document["closure_reason"]))],
    ["Comment", plainText(document["comment"])],
  ] as const;
};

const LineItems = ({ rows, currency }: { rows: readonly Fields[]; currency: unknown }) => {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return (
    <Table<Fields>
      caption="Line items"
      rows={rows}
      keyOf={(_row, place) => String(place)}
      columns={names.map((name) => ({
        name: words(name),
        isNumber: /amount|price|quantity/i.test(name),
        isMinor: !/description|quantity|amount/i.test(name),
        cell: (row) => cell(name, row[name], currency),
      }))}
    />
  );
};

const Disputes = ({ documentNumber, open }: { documentNumber: string; open: Open }) => {
  const args = { DocumentNumber: documentNumber, Page: 1, PageSize: MOST_DISPUTES };
  const { answer, problem, isLoading, reload } = useCall(LIST, args);
  const rows = listOf(answer?.["items"]);
  return (
    <Card title="Disputes on the document" part={undefined}>
      {isLoading && <Loading what="Reading the disputes" />}
      {problem && <Failure problem={problem} retry={reload} />}
      {answer && rows.length === 0 && <Empty>No disputes.</Empty>}
      {rows.length > 0 && (
        <DisputeTable caption="Disputes on the document" rows={rows} open={open} />
      )}
    </Card>
  );
};

const Title = ({ document }: { document: Fields }) => {
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => title.current?.focus(), []);
  const status = plainText(document["status"]);
  return (
    <header class="head">
      <h1 ref={title} tabIndex={-1}>
        {plainText(document["documentNumber"])}{" "}
        <Badge tone={status === "closed" ? "good" : "warn"}>{words(status)}</Badge>
      </h1>
      <p class="total">{money(document["denomination"], document["currency"])}</p>
    </header>
  );
};

/** One document: its facts, its line items and the disputes on it. */
export const DocumentSheet = ({ id, open }: { id: string; open: Open }) => {
  const { reply, answer, problem, isLoading, reload } = useCall("documents_get", {
    document_number: id,
  });
  const lines = listOf(answer?.["line_items"]);
  return (
    <main aria-busy={isLoading}>
      {reply === undefined && <Loading what="Reading the document" />}
      {problem && <Failure problem={problem} retry={reload} />}
      {answer && (
        <>
          <Title document={answer} />
          <Card title="Document" part={undefined}>
            <Facts facts={documentFacts(answer, open)} />
          </Card>
          {lines.length > 0 && (
            <Card title="Line items" part={undefined}>
              <LineItems rows={lines} currency={answer["currency"]} />
            </Card>
          )}
          {hasTool(LIST) && <Disputes documentNumber={id} open={open} />}
          <Notes notes={textsOf(answer["notes"])} />
        </>
      )}
    </main>
  );
};
