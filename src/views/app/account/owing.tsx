import { useState } from "preact/hooks";
import { listOf, numberOf, recordOf, textsOf } from "../answers.ts";
import { count, counted, day, plainText } from "../format.ts";
import type { Fields } from "../host.ts";
import type { Open } from "../place.ts";
import { notesOfPage, Pages } from "../ui/pages.tsx";
import { RecordLink } from "../ui/record-link.tsx";
import { ReportTools } from "../ui/report-tools.tsx";
import { Empty, Failure, Loading, Notes, ReportHead } from "../ui/status.tsx";
import { amountColumn, Table } from "../ui/table.tsx";
import { useCall } from "../ui/use-call.ts";

export const OWING = "documents_summary";

/** Open documents by account, the largest sum first. */
const ARGUMENTS = { groupBy: ["account"], limit: 25 };

const accountOf = (row: Fields): string => plainText(recordOf(row["key"])["account"]);

type OwingProps = { open: Open };

const Accounts = ({ rows, open }: OwingProps & { rows: readonly Fields[] }) => (
  <Table
    caption="Accounts that owe most"
    rows={rows}
    keyOf={(row) => `${accountOf(row)} ${plainText(row["currencyCode"])}`}
    columns={[
      {
        name: "Account",
        cell: (row) => (
          <RecordLink
            record={{ kind: "account", id: accountOf(row) }}
            text={plainText(row["accountName"]) || accountOf(row)}
            open={open}
          />
        ),
      },
      amountColumn("Owed", "amount"),
      { ...amountColumn("Disputed", "disputedAmount"), isMinor: true },
      { name: "Documents", isNumber: true, isMinor: true, cell: (row) => count(row["count"]) },
      {
        name: "Oldest due",
        isWhole: true,
        isMinor: true,
        cell: (row) => day(recordOf(row["oldest"])["dueDate"]),
      },
    ]}
  />
);

/** What a person can do where no list of accounts can be shown. */
export const NoAccounts = () => (
  <>
    <h1>Account sheet</h1>
    <Empty>Type an account number or a part of its name.</Empty>
  </>
);

/** The accounts that owe most, page by page; one of them opens its sheet. */
export const Owing = ({ open }: OwingProps) => {
  const [cursors, setCursors] = useState<readonly string[]>([]);
  const cursor = cursors.at(-1);
  const { answer, problem, isLoading, reload } = useCall(OWING, {
    ...ARGUMENTS,
    ...(cursor === undefined ? {} : { cursor }),
  });
  const rows = listOf(answer?.["items"]);
  return (
    <main aria-busy={isLoading}>
      {answer && <ReportHead title="Accounts that owe most" noun="document" answer={answer} />}
      {answer && (
        <ReportTools title="list of receivables" tool={OWING} args={ARGUMENTS} answer={answer} />
      )}
      {answer === undefined && isLoading && <Loading what="Reading the receivables" />}
      {problem &&
        (problem.code === "method_not_allowed" ? (
          <NoAccounts />
        ) : (
          <Failure problem={problem} retry={reload} />
        ))}
      {rows.length > 0 && <Accounts rows={rows} open={open} />}
      {answer && rows.length === 0 && <Empty>No document is open.</Empty>}
      {answer && (
        <Pages
          label="Pages of the accounts"
          cursors={cursors}
          next={answer["nextCursor"]}
          turn={setCursors}
          text={`${counted(numberOf(answer["itemsTotal"]), "account")} in all`}
        />
      )}
      <Notes notes={notesOfPage(textsOf(answer?.["notes"]))} />
    </main>
  );
};
