import { useEffect, useRef } from "preact/hooks";
import { listOf, recordOf, textsOf } from "../answers.ts";
import { cell, counted, day, describeDaysLeft, money, plainText, words } from "../format.ts";
import type { Fields } from "../host.ts";
import type { Open } from "../place.ts";
import type { Reply } from "../reply.ts";
import { hasTool } from "../session.ts";
import { Facts } from "../ui/facts.tsx";
import { RecordLink } from "../ui/record-link.tsx";
import { Badge, Card, Empty, Failure, Loading, Notes } from "../ui/status.tsx";
import { amountColumn, Table } from "../ui/table.tsx";
import { useCall } from "../ui/use-call.ts";
import { isExternal } from "../words.ts";
import { PacketActions } from "./actions.tsx";
import { Files } from "./files.tsx";

const disputeFacts = (dispute: Fields) =>
  [
    ["Reason", plainText(dispute["reasonName"])],
    ["Customer's reason", plainText(dispute["externalReasonName"])],
    ["Category", plainText(dispute["categoryName"])],
    ["Department", plainText(dispute["departmentName"])],
    ["Assignee", plainText(dispute["assigneeName"]) || "Not assigned"],
    ["Purchase order", plainText(dispute["poNumber"])],
    ["Opened", day(dispute["createDate"])],
    ["Fields changed", day(dispute["updateDate"])],
    ["Closed", day(dispute["closedDate"])],
    ["Resolution", plainText(dispute["resolutionCode"])],
  ] as const;

const shipTo = (address: Fields): string =>
  ["street", "suite", "city", "state", "zip", "country"]
    .map((name) => plainText(address[name]))
    .filter((text) => text !== "")
    .join(", ");

const documentFacts = (document: Fields, open: Open | undefined) => {
  const currency = document["currencyCode"];
  const overdue = Number(document["daysPastDue"] ?? 0);
  const amount = (name: string): string =>
    document[name] === undefined ? "" : money(document[name], currency);
  return [
    [
      "Number",
      <RecordLink
        key="number"
        record={{ kind: "document", id: plainText(document["documentNumber"]) }}
        open={hasTool("documents_get") ? open : undefined}
      />,
    ],
    ["Type", words(plainText(document["type"]))],
    ["Status", words(plainText(document["status"]))],
    ["Issued", day(document["invoiceDate"])],
    ["Due", day(document["dueDate"])],
    ["Overdue", overdue > 0 ? counted(overdue, "day") : ""],
    ["Amount", money(document["originalAmount"], currency)],
    ["Balance", money(document["balance"], currency)],
    ["Tax", amount("taxAmount")],
    ["Freight", amount("freightAmount")],
    ["Ship to", shipTo(recordOf(document["shipTo"]))],
    ["Purchase order", plainText(document["poNumber"])],
    ["Description", plainText(document["description"])],
  ] as const;
};

const Payments = ({ rows }: { rows: Fields[] }) =>
  rows.length === 0 ? (
    <Empty>No payment is applied to the document.</Empty>
  ) : (
    <Table
      caption="Payments on the document"
      rows={rows}
      keyOf={(row, place) => `${String(row["paymentId"])} ${place}`}
      columns={[
        { name: "Date", isWhole: true, cell: (row) => day(row["paymentDate"]) },
        { name: "Method", cell: (row) => cell("method", row["paymentMethod"]), isMinor: true },
        amountColumn("Applied", "appliedAmount"),
        amountColumn("Deducted", "deductionAmount"),
        { name: "Code", cell: (row) => cell("code", row["deductionReasonCode"]), isMinor: true },
        {
          name: "Short",
          isMinor: true,
          cell: (row) => (row["shortPay"] === true ? <Badge tone="warn">Short</Badge> : ""),
        },
      ]}
    />
  );

/** Other disputes, each of which can be opened. */
export const DisputeTable = ({
  caption,
  rows,
  open,
}: {
  caption: string;
  rows: Fields[];
  open: Open | undefined;
}) => (
  <Table
    caption={caption}
    rows={rows}
    keyOf={(row) => plainText(row["disputeCode"])}
    columns={[
      {
        name: "Dispute",
        isWhole: true,
        cell: ({ disputeCode }) => (
          <RecordLink record={{ kind: "dispute", id: plainText(disputeCode) }} open={open} />
        ),
      },
      {
        name: "Document",
        isWhole: true,
        isMinor: true,
        cell: (row) => plainText(row["documentNumber"]),
      },
      { name: "Reason", cell: (row) => plainText(row["reasonName"]), isMinor: true },
      { name: "Opened", isWhole: true, cell: (row) => day(row["createDate"]), isMinor: true },
      amountColumn("Amount", "amount"),
    ]}
  />
);

/** Some platforms name the author by an id, which tells a reader nothing. */
const authorOf = ({ by }: Fields): string => {
  const text = plainText(by);
  return /^[0-9a-f-]{32,}$/i.test(text) ? "" : text;
};

const Timeline = ({ notes, total }: { notes: Fields[]; total: number }) =>
  notes.length === 0 ? (
    <Empty>No notes yet.</Empty>
  ) : (
    <>
      <ol class="timeline">
        {notes.map((note, place) => (
          <li key={place}>
            <p class="meta">
              {[day(note["time"]), authorOf(note)].filter((text) => text !== "").join(" · ")}
              {isExternal(note["visibility"]) && <Badge tone="warn">External</Badge>}
            </p>
            <p class="prose">{plainText(note["text"])}</p>
            {note["cut"] === true && <p class="meta">The note is longer.</p>}
          </li>
        ))}
      </ol>
      {total > notes.length && (
        <p class="meta">
          The newest {notes.length} of {total} notes.
        </p>
      )}
    </>
  );

const TONES: Record<string, "good" | "plain" | "warn"> = { Open: "warn", Closed: "good" };

const Head = ({ dispute, open }: { dispute: Fields; open: Open | undefined }) => {
  const title = useRef<HTMLHeadingElement>(null);
  const status = plainText(dispute["status"]);
  // A change of the status takes away the button that had the focus.
  useEffect(() => title.current?.focus(), [status]);
  const name = plainText(dispute["accountName"]);
  return (
    <header class="head">
      <div>
        <h1 ref={title} tabIndex={-1}>
          {plainText(dispute["disputeCode"])}{" "}
          <Badge tone={TONES[status] ?? "plain"}>{status}</Badge>
          {typeof dispute["isValid"] === "boolean" && (
            <Badge>{dispute["isValid"] ? "Valid" : "Not valid"}</Badge>
          )}
        </h1>
        <p class="meta">
          {name && `${name} · `}
          <RecordLink
            record={{ kind: "account", id: plainText(dispute["accountNumber"]) }}
            open={hasTool("account_overview") ? open : undefined}
          />
        </p>
      </div>
      <p class="total">
        {money(dispute["amount"], dispute["currencyCode"])}
        {typeof dispute["ageDays"] === "number" && (
          <span class="meta">{counted(dispute["ageDays"], "day")} old</span>
        )}
        {typeof dispute["daysLeft"] === "number" && (
          <span class={dispute["due"] === true ? "meta overdue" : "meta"}>
            {describeDaysLeft(dispute["daysLeft"])}
          </span>
        )}
      </p>
    </header>
  );
};

const Body = ({ packet, open }: { packet: Fields; open: Open | undefined }) => {
  const others = recordOf(packet["otherDisputes"]);
  const missing = textsOf(packet["missing"]);
  return (
    <>
      {missing.length > 0 && (
        <section class="callout">
          <h2>Before you decide</h2>
          <ul>
            {missing.map((one) => (
              <li key={one}>{one.charAt(0).toUpperCase() + one.slice(1)}.</li>
            ))}
          </ul>
        </section>
      )}
      <div class="columns">
        <Card title="Dispute" part={packet["dispute"]}>
          <Facts facts={disputeFacts(recordOf(packet["dispute"]))} />
        </Card>
        <Card title="Document" part={packet["document"]}>
          <Facts facts={documentFacts(recordOf(packet["document"]), open)} />
        </Card>
      </div>
      <Card title="Payments on the document" part={packet["payments"]}>
        <Payments rows={listOf(packet["payments"])} />
      </Card>
      <div class="columns">
        <Card title="Notes" part={packet["notes"]}>
          <Timeline notes={listOf(packet["notes"])} total={Number(packet["notesTotal"] ?? 0)} />
        </Card>
        <Card title="Files" part={packet["files"]}>
          <Files
            disputeId={plainText(recordOf(packet["dispute"])["disputeCode"])}
            files={listOf(packet["files"])}
          />
        </Card>
      </div>
      <Card title="Other open disputes of the account" part={packet["otherDisputes"]}>
        {listOf(others["largest"]).length === 0 ? (
          <Empty>None.</Empty>
        ) : (
          <>
            <p class="meta">
              {counted(Number(others["openOnAccount"] ?? 0), "other dispute")} on the account,{" "}
              {Number(others["openOnDocument"] ?? 0)} of them on the same document.
            </p>
            <DisputeTable
              caption="Other open disputes"
              rows={listOf(others["largest"])}
              open={open}
            />
          </>
        )}
      </Card>
    </>
  );
};

type PacketProps = {
  disputeId: string;
  /** The answer, if the host has sent it with the view. */
  first?: Reply | undefined;
  open?: Open;
};

/** Everything about one dispute, and what can be done about it. */
export const Packet = ({ disputeId, first, open }: PacketProps) => {
  const { reply, answer, problem, isLoading, reload } = useCall(
    "dispute_packet",
    { disputeId },
    { first },
  );
  const [packet] = listOf(answer?.["items"]);
  return (
    <main aria-busy={isLoading}>
      {reply === undefined && <Loading what="Reading the dispute" />}
      {problem && <Failure problem={problem} retry={reload} />}
      {packet && (
        <>
          <Head dispute={recordOf(packet["dispute"])} open={open} />
          <PacketActions packet={packet} />
          <Body packet={packet} open={open} />
          <Notes notes={textsOf(answer?.["notes"])} />
        </>
      )}
    </main>
  );
};
