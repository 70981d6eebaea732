import { useEffect, useRef } from "preact/hooks";
import { listOf, numberOf, recordOf, textsOf } from "../answers.ts";
import { formatMoment, plainText } from "../format.ts";
import type { Fields } from "../host.ts";
import type { Open } from "../place.ts";
import type { Reply } from "../reply.ts";
import { RecordLink } from "../ui/record-link.tsx";
import { ReportTools } from "../ui/report-tools.tsx";
import { Empty, Failure, Loading, Notes } from "../ui/status.tsx";
import { useCall } from "../ui/use-call.ts";
import { AccountBody } from "./body.tsx";

/** Accounts that match, when the name fits several. */
const Candidates = ({ items, open }: { items: readonly Fields[]; open: Open }) => (
  <section class="card">
    <h2>Which account?</h2>
    <ul class="lines">
      {items.map(({ accountNumber, name }) => (
        <li key={plainText(accountNumber)}>
          <RecordLink
            record={{ kind: "account", id: plainText(accountNumber) }}
            text={plainText(name) || plainText(accountNumber)}
            open={open}
          />{" "}
          <span class="meta">{plainText(accountNumber)}</span>
        </li>
      ))}
    </ul>
  </section>
);

const nameOf = (item: Fields | undefined): string => {
  const { name, accountNumber } = recordOf(item?.["account"]);
  return plainText(name) || plainText(accountNumber);
};

type OverviewProps = { account: string; first?: Reply | undefined; open: Open };

/** One customer by number, or the customers that a name fits. */
export const AccountOverview = ({ account, first, open }: OverviewProps) => {
  const title = useRef<HTMLHeadingElement>(null);
  const { answer, problem, isLoading, reload } = useCall(
    "account_overview",
    { account },
    { first },
  );
  const items = listOf(answer?.["items"]);
  const isOne = items.length === 1 && "account" in (items[0] ?? {});
  useEffect(() => title.current?.focus(), [isOne]);
  return (
    <main aria-busy={isLoading}>
      <header class="head">
        <div>
          <h1 ref={title} tabIndex={-1}>
            {isOne ? nameOf(items[0]) : `Account ${account}`}
          </h1>
          {answer && (
            <p class="meta">
              {isOne ? "Account sheet as of" : "As of"} {formatMoment(answer["asOf"])}
            </p>
          )}
        </div>
      </header>
      {isOne && answer && (
        <ReportTools
          title="account sheet"
          tool="account_overview"
          args={{ account }}
          answer={answer}
        />
      )}
      {isLoading && <Loading what="Reading the account" />}
      {problem && <Failure problem={problem} retry={reload} />}
      {answer && numberOf(answer["rowCount"]) === 0 && <Empty>No account matches.</Empty>}
      {isOne && items[0] && <AccountBody item={items[0]} open={open} />}
      {!isOne && items.length > 0 && <Candidates items={items} open={open} />}
      <Notes notes={isOne ? textsOf(answer?.["notes"]) : []} />
    </main>
  );
};
