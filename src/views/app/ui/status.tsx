import type { ComponentChildren } from "preact";
import type { Problem } from "../session.ts";

export const Loading = ({ what = "Loading" }: { what?: string }) => (
  <p class="loading" role="status">
    <span class="spinner" aria-hidden="true" />
    {what}…
  </p>
);

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

/** What limits the figures, in the server's words. */
export const Notes = ({ notes }: { notes: readonly string[] }) =>
  notes.length === 0 ? null : (
    <ul class="notes" aria-label="Limits of these figures">
      {notes.map((note) => (
        <li key={note}>{note}</li>
      ))}
    </ul>
  );

type Tone = "plain" | "good" | "bad" | "warn";

export const Badge = ({
  tone = "plain",
  children,
}: {
  tone?: Tone;
  children: ComponentChildren;
}) => <span class={`badge ${tone}`}>{children}</span>;
