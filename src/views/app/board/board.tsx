import { useState } from "preact/hooks";
import { listOf, numberOf, recordOf, textsOf, totalsOf } from "../answers.ts";
import type { Fields } from "../host.ts";
import type { Open, Place } from "../place.ts";
import { Finder } from "../records/finder.tsx";
import { hasTool, useSession } from "../session.ts";
import { notesOfPage } from "../ui/pages.tsx";
import { ReportTools } from "../ui/report-tools.tsx";
import { Failure, Loading, Notes, ReportHead } from "../ui/status.tsx";
import { useCall } from "../ui/use-call.ts";
import { FLAGS, toChoices } from "../words.ts";
import { Aging } from "./aging.tsx";
import { BulkActions } from "./bulk-actions.tsx";
import { changed, flagsOf, pageArgs, toggleFlag } from "./filters.ts";
import { FilterBar } from "./filter-bar.tsx";
import { Worklist } from "./worklist.tsx";

type FlagsProps = { counts: Fields; args: Fields; change: (change: Fields) => void };

/** Counts of what needs attention; each can be pressed, and leads to as many disputes. */
const Flags = ({ counts, args, change }: FlagsProps) => (
  <ul class="flags" aria-label="What needs attention">
    {toChoices(FLAGS)
      .filter(({ value }) => counts[value] !== undefined)
      .map(({ value: flag, text }) => (
        <li key={flag}>
          <button
            type="button"
            aria-pressed={flagsOf(args).includes(flag)}
            onClick={() => change(toggleFlag(args, flag))}
          >
            <strong>{counts[flag] === null ? "?" : numberOf(counts[flag])}</strong> {text}
          </button>
        </li>
      ))}
  </ul>
);

type BoardProps = {
  place: Place;
  go: (place: Place) => void;
  open: Open;
  isShown: boolean;
};

const isSame = (one: Fields, other: Fields): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/** The arguments of the worklist and its answer. */
const useWorklist = ({ place, go, isShown }: BoardProps) => {
  const { opening } = useSession();
  const isOwn = opening.tool !== "dispute_packet";
  const { args = {}, cursors = [] } = place;
  const cursor = cursors.at(-1);
  // The host's call is the first page, although a model asks for fewer rows than the board does.
  const isAsked = isOwn && isSame(args, opening.args);
  const requested = isAsked ? args : pageArgs(args);
  const sent = cursor === undefined ? requested : { ...requested, cursor };
  const called = useCall("disputes_triage", sent, {
    first: isOwn && isSame(sent, opening.args) ? opening.reply : undefined,
    isPaused: !isShown,
  });
  const set = (next: Fields): void => go({ args: next });
  const turn = (to: readonly string[]): void => go({ args, cursors: to });
  return { ...called, args, cursors, set, turn };
};

/** The ranked worklist with its filters, figures and actions on several disputes. */
export const Board = (props: BoardProps) => {
  const { open, isShown } = props;
  const { reply, answer, problem, isLoading, reload, args, cursors, set, turn } =
    useWorklist(props);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const change = (next: Fields): void => set(changed(args, next));
  const asOf = String(answer?.["asOf"] ?? "");
  return (
    <main aria-busy={isLoading}>
      <Finder open={open} />
      {reply === undefined && <Loading what="Reading the disputes" />}
      {answer && <ReportHead title="Dispute board" noun="dispute" answer={answer} />}
      {answer && (
        <ReportTools title="dispute board" tool="disputes_triage" args={args} answer={answer} />
      )}
      {answer && hasTool("disputes_summary") && (
        <Aging args={args} asOf={asOf} change={change} isPaused={!isShown} />
      )}
      {answer && <Flags counts={recordOf(answer["flags"])} args={args} change={change} />}
      <FilterBar
        args={args}
        currencies={totalsOf(answer?.["currencyTotals"]).map(({ currencyCode }) => currencyCode)}
        change={change}
        reset={() => set({})}
        isPaused={!isShown || answer === undefined}
      />
      {problem && <Failure problem={problem} retry={reload} />}
      <BulkActions selected={selected} done={() => setSelected(new Set())} />
      {answer && (
        <Worklist
          items={listOf(answer["items"])}
          total={numberOf(answer["itemsTotal"])}
          isLoading={isLoading}
          selected={selected}
          select={setSelected}
          open={open}
          next={answer["nextCursor"]}
          cursors={cursors}
          turn={turn}
        />
      )}
      <Notes notes={notesOfPage(textsOf(answer?.["notes"]))} />
    </main>
  );
};
