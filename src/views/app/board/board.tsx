import { useEffect, useRef, useState } from "preact/hooks";
import { listOf, numberOf, recordOf, textsOf, totalsOf } from "../answers.ts";
import type { Fields } from "../host.ts";
import { hasTool, useSession } from "../session.ts";
import { Failure, Loading, Notes, ReportHead } from "../ui/status.tsx";
import { useCall } from "../ui/use-call.ts";
import { Aging } from "./aging.tsx";
import { BulkActions } from "./bulk-actions.tsx";
import { changed, flagFilters, withLimit } from "./filters.ts";
import { FilterBar } from "./filter-bar.tsx";
import { Worklist } from "./worklist.tsx";

const FLAGS: Record<string, string> = {
  documentClosed: "Document closed",
  duplicate: "Possible duplicate",
  unassigned: "Unassigned",
  stale: "No change for 10 days",
};

type FlagsProps = { flags: Fields; asOf: string; args: Fields; change: (change: Fields) => void };

/** Counts of what needs attention; those that are filters can be pressed. */
const Flags = ({ flags, asOf, args, change }: FlagsProps) => {
  const filters = flagFilters(asOf);
  return (
    <ul class="flags" aria-label="What needs attention">
      {Object.entries(FLAGS).map(([flag, text]) => {
        const filter = filters[flag];
        const names = Object.keys(filter ?? {});
        const isOn = names.length > 0 && names.every((name) => args[name] !== undefined);
        const off = Object.fromEntries(names.map((name) => [name, undefined]));
        const figure = <strong>{flags[flag] === null ? "?" : numberOf(flags[flag])}</strong>;
        return (
          <li key={flag}>
            {filter === undefined ? (
              <span>
                {figure} {text}
              </span>
            ) : (
              <button type="button" aria-pressed={isOn} onClick={() => change(isOn ? off : filter)}>
                {figure} {text}
              </button>
            )}
          </li>
        );
      })}
    </ul>
  );
};

type BoardProps = { open: (disputeId: string) => void; isShown: boolean };

/** The arguments of the worklist and its answer. */
const useWorklist = (isShown: boolean) => {
  const { opening } = useSession();
  const isOwn = opening.tool !== "dispute_packet";
  const [args, setArgs] = useState<Fields>(isOwn ? opening.args : {});
  const [isFull, setFull] = useState(!isOwn);
  const called = useCall(
    "disputes_triage",
    isFull ? withLimit(args) : args,
    isOwn ? opening.reply : undefined,
  );
  // The host's answer is short, for a model; the board reads on at once.
  useEffect(() => {
    if (opening.reply?.kind === "answer") setFull(true);
  }, []);
  // What was changed in a dispute shows when its reader comes back.
  const wasShown = useRef(isShown);
  useEffect(() => {
    if (isShown && !wasShown.current) called.reload();
    wasShown.current = isShown;
  }, [isShown]);
  const set = (next: Fields): void => {
    setFull(true);
    setArgs(next);
  };
  return { ...called, args, set };
};

/** The ranked worklist with its filters, figures and actions on several disputes. */
export const Board = ({ open, isShown }: BoardProps) => {
  const { reply, answer, problem, isLoading, reload, args, set } = useWorklist(isShown);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const change = (next: Fields): void => set(changed(args, next));

  const items = listOf(answer?.["items"]);
  const asOf = String(answer?.["asOf"] ?? "");
  return (
    <main aria-busy={isLoading}>
      {reply === undefined && <Loading what="Reading the disputes" />}
      {answer && <ReportHead title="Dispute board" noun="dispute" answer={answer} />}
      {answer && hasTool("disputes_summary") && <Aging args={args} asOf={asOf} change={change} />}
      {answer && (
        <Flags flags={recordOf(answer["flags"])} asOf={asOf} args={args} change={change} />
      )}
      <FilterBar
        args={args}
        currencies={totalsOf(answer?.["currencyTotals"]).map(({ currencyCode }) => currencyCode)}
        change={change}
        reset={() => set({})}
      />
      {problem && <Failure problem={problem} retry={reload} />}
      <BulkActions
        selected={selected}
        done={() => {
          setSelected(new Set());
          reload();
        }}
      />
      {answer && (
        <Worklist
          items={items}
          total={numberOf(answer["itemsTotal"])}
          isLoading={isLoading}
          selected={selected}
          select={setSelected}
          open={open}
        />
      )}
      <Notes notes={textsOf(answer?.["notes"])} />
    </main>
  );
};
