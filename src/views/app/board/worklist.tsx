import { numberOf, recordOf, textsOf } from "../answers.ts";
import { count, counted, day, describeDaysLeft, money, plainText } from "../format.ts";
import type { Fields } from "../host.ts";
import type { Open } from "../place.ts";
import { hasTool } from "../session.ts";
import { Pages } from "../ui/pages.tsx";
import { Badge, Empty } from "../ui/status.tsx";

const MAX_CHANGES = 50;

type WorklistProps = {
  items: readonly Fields[];
  total: number;
  isLoading: boolean;
  selected: ReadonlySet<string>;
  select: (codes: ReadonlySet<string>) => void;
  open: Open;
  /** The cursors of the pages before, and of this one. */
  cursors: readonly string[];
  /** The cursor of the next page; undefined on the last one. */
  next: unknown;
  /** Shows the page to which these cursors lead. */
  turn: (cursors: readonly string[]) => void;
};

const LastNote = ({ note }: { note: unknown }) => {
  const { date, text } = recordOf(note);
  return typeof text === "string" ? (
    <p class="note">
      <span class="meta">{day(date)}</span> {plainText(text)}
    </p>
  ) : null;
};

const Status = ({ status }: { status: string }) => {
  if (status === "closed" || status === "missing") return <Badge tone="bad">{status}</Badge>;
  return status === "unknown" ? <Badge>unknown</Badge> : null;
};

/** Days left until the decision is due. */
const DaysLeft = ({ days }: { days: number }) => (
  <p class={days < 0 ? "meta overdue" : "meta"}>{describeDaysLeft(days)}</p>
);

/** Reasons that the columns beside them show: the age, and the days left. */
const SHOWN = /^(?:\d+ days old|decision (?:over)?due .*)$/;

const Account = ({ number, open }: { number: string; open: WorklistProps["open"] }) =>
  hasTool("account_overview") ? (
    <button
      type="button"
      class="link meta"
      aria-label={`Account ${number}`}
      onClick={() => open({ kind: "account", id: number })}
    >
      {number}
    </button>
  ) : (
    <span class="meta">{number}</span>
  );

type RowProps = {
  item: Fields;
  isChosen: boolean;
  choose: (isChosen: boolean) => void;
  open: WorklistProps["open"];
};

const Row = ({ item, isChosen, choose, open }: RowProps) => {
  const code = plainText(item["disputeCode"]);
  const score = Number(item["score"] ?? 0);
  return (
    <li class={isChosen ? "work chosen" : "work"}>
      <div class="rank">
        {hasTool("disputes_apply") && (
          <input
            type="checkbox"
            aria-label={`Choose ${code}`}
            checked={isChosen}
            onChange={(event) => choose(event.currentTarget.checked)}
          />
        )}
        <span class="score" title={`Score ${score} of 100`}>
          <span class="hidden">Score </span>
          {score}
        </span>
      </div>
      <div class="who">
        <h3>
          <button type="button" class="link" onClick={() => open({ kind: "dispute", id: code })}>
            {code}
          </button>{" "}
          <span class="reason">{plainText(item["reasonName"])}</span>
        </h3>
        <p>
          {plainText(item["accountName"]) || "Account"}{" "}
          <Account number={plainText(item["accountNumber"])} open={open} />
        </p>
      </div>
      <div class="what">
        <p class="amount">{money(item["amount"], item["currencyCode"])}</p>
        <p class="meta">
          {plainText(item["documentNumber"])} <Status status={plainText(item["documentStatus"])} />
        </p>
      </div>
      <div class="when">
        <p>{counted(Number(item["ageDays"] ?? 0), "day")} old</p>
        {typeof item["daysLeft"] === "number" && <DaysLeft days={item["daysLeft"]} />}
        <p class="meta">{plainText(item["assigneeName"]) || "Not assigned"}</p>
      </div>
      <div class="why">
        <ul class="chips" aria-label="Reasons for the score">
          {textsOf(item["why"])
            .filter((reason) => !SHOWN.test(reason))
            .map((reason) => (
              <li key={reason}>{reason}</li>
            ))}
        </ul>
        <LastNote note={item["lastNote"]} />
      </div>
    </li>
  );
};

const describePage = (shown: number, skip: number, total: number): string =>
  shown === total
    ? `${count(shown)} of ${count(total)}`
    : `${count(skip + 1)}–${count(skip + shown)} of ${count(total)}`;

/** The disputes in the order in which to work on them. */
export const Worklist = ({
  items,
  total,
  isLoading,
  selected,
  select,
  open,
  cursors,
  next,
  turn,
}: WorklistProps) => {
  const skip = Math.max(0, numberOf(items[0]?.["rank"]) - 1);
  const choose = (code: string, isChosen: boolean): void => {
    const next = new Set(selected);
    if (isChosen && next.size < MAX_CHANGES) next.add(code);
    else next.delete(code);
    select(next);
  };
  return (
    <section aria-labelledby="worklist">
      <h2 id="worklist">
        Worklist{" "}
        <span class="meta" role="status">
          {isLoading ? "Updating…" : describePage(items.length, skip, total)}
        </span>
      </h2>
      {items.length === 0 && <Empty>No dispute matches these filters.</Empty>}
      <ol class="worklist">
        {items.map((item) => {
          const code = plainText(item["disputeCode"]);
          return (
            <Row
              key={code}
              item={item}
              isChosen={selected.has(code)}
              choose={(isChosen) => choose(code, isChosen)}
              open={open}
            />
          );
        })}
      </ol>
      <Pages
        label="Pages of the worklist"
        cursors={cursors}
        next={next}
        turn={turn}
        text={describePage(items.length, skip, total)}
      />
    </section>
  );
};
