import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { reasonOf, totalsOf } from "../answers.ts";
import { counted, money, formatMoment } from "../format.ts";
import type { Fields } from "../host.ts";
import type { Problem } from "../reply.ts";

const SLOW_MS = 5000;

/** What is being waited for, and after a while that it takes long. */
export const Loading = ({ what = "Loading" }: { what?: string }) => {
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), SLOW_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <p class="loading" role="status">
      <span class="spinner" aria-hidden="true" />
      {what}… {isSlow && "This takes long: the connection or the server is slow."}
    </p>
  );
};

export const Alert = ({ children }: { children: ComponentChildren }) => (
  <div class="alert" role="alert">
    {children}
  </div>
);

/** A refusal in the server's words, and a way to try again. */
export const Failure = ({ problem, retry }: { problem: Problem; retry?: () => void }) => (
  <Alert>
    <p>{problem.message}</p>
    {retry && (
      <button type="button" onClick={retry}>
        Try again
      </button>
    )}
  </Alert>
);

export const Empty = ({ children }: { children: ComponentChildren }) => (
  <p class="empty">{children}</p>
);

/** A titled part of a record, or why the platform does not give it. */
export const Card = ({
  title,
  part,
  children,
}: {
  title: string;
  part: unknown;
  children: ComponentChildren;
}) => {
  const reason = reasonOf(part);
  return (
    <section class="card">
      <h2>{title}</h2>
      {reason === undefined ? children : <Empty>Not available: {reason}</Empty>}
    </section>
  );
};

/** The limits of the figures, in the server's words. */
export const Notes = ({ notes }: { notes: readonly string[] }) =>
  notes.length === 0 ? null : (
    <ul class="notes" aria-label="Limits of these figures">
      {notes.map((note) => (
        <li key={note}>{note}</li>
      ))}
    </ul>
  );

type HeadProps = { title: string; noun: string; answer: Fields; children?: ComponentChildren };

/** The title of a report, its time, and the totals with their counts of a noun by currency. */
export const ReportHead = ({ title, noun, answer, children }: HeadProps) => (
  <header class="head">
    <div>
      <h1>{title}</h1>
      <p class="meta">
        As of {formatMoment(answer["asOf"])}
        {children}
      </p>
    </div>
    <ul class="totals" aria-label="Totals">
      {totalsOf(answer["currencyTotals"]).map(({ currencyCode, amount, count }) => (
        <li key={currencyCode}>
          <span class="amount">{money(amount, currencyCode)}</span>
          <span class="meta">{counted(count, noun)}</span>
        </li>
      ))}
    </ul>
  </header>
);

type Tone = "plain" | "good" | "bad" | "warn";

export const Badge = ({
  tone = "plain",
  children,
}: {
  tone?: Tone;
  children: ComponentChildren;
}) => <span class={`badge ${tone}`}>{children}</span>;
