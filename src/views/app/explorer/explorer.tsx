import { useEffect, useState } from "preact/hooks";
import { listOf, numberOf, recordOf, textsOf } from "../answers.ts";
import { counted } from "../format.ts";
import type { Fields } from "../host.ts";
import { hasTool, useSession } from "../session.ts";
import { ReportTools } from "../ui/report-tools.tsx";
import { Failure, Loading, Notes, ReportHead } from "../ui/status.tsx";
import { useCall } from "../ui/use-call.ts";
import { Controls } from "./controls.tsx";
import { GroupChart } from "./group-chart.tsx";
import { GroupTable } from "./group-table.tsx";
import { RowsBehind } from "./rows-behind.tsx";
import { type Group, sourceOf } from "./sources.ts";

/** As many groups as a summary has at most; a series of months must not end early. */
const LIMIT = 200;

const toGroup = (item: Fields): Group => ({
  key: recordOf(item["key"]),
  currencyCode: item["currencyCode"],
  item,
});

const isSame = (one: Group | undefined, other: Group): boolean =>
  one !== undefined &&
  one.currencyCode === other.currencyCode &&
  JSON.stringify(one.key) === JSON.stringify(other.key);

/** The arguments of the summary and its answer, with all groups where the host's answer has few, for a model. */
const useSummary = () => {
  const { opening } = useSession();
  const [args, setArgs] = useState<Fields>(opening.args);
  const [isFull, setFull] = useState(false);
  const sent = isFull ? { ...args, limit: LIMIT } : args;
  const called = useCall("payments_summarize", sent, { first: opening.reply });
  useEffect(() => {
    const known = opening.reply?.kind === "answer" ? opening.reply.answer : {};
    if (numberOf(known["itemsTotal"]) > listOf(known["items"]).length) setFull(true);
  }, []);
  const change = (next: Fields): void => {
    setFull(true);
    setArgs((before) => ({ ...before, ...next }));
  };
  return { ...called, args, change };
};

/** Payments added up by a grouping of choice; a bar opens the rows behind it. */
export const Explorer = () => {
  const [picked, setPicked] = useState<Group>();
  const { reply, answer, problem, isLoading, reload, args, change: apply } = useSummary();
  const change = (next: Fields): void => {
    setPicked(undefined);
    apply(next);
  };
  const pick = (group: Group): void => setPicked(isSame(picked, group) ? undefined : group);
  const groups = listOf(answer?.["items"]).map(toGroup);
  const source = sourceOf(args["source"]);
  return (
    <main aria-busy={isLoading}>
      {reply === undefined && <Loading what="Reading the payments" />}
      {answer && (
        <ReportHead title="Payment explorer" noun="payment" answer={answer}>
          {" "}
          · {counted(numberOf(answer["rowCount"]), "row")}
        </ReportHead>
      )}
      {answer && (
        <ReportTools
          title="payment explorer"
          tool="payments_summarize"
          args={args}
          answer={answer}
        />
      )}
      <Controls args={args} change={change} />
      {isLoading && reply && <Loading what="Adding up" />}
      {problem && <Failure problem={problem} retry={reload} />}
      {answer && (
        <GroupChart
          groups={groups}
          source={source}
          isPicked={(group) => isSame(picked, group)}
          pick={pick}
        />
      )}
      {picked && hasTool("payments_query") && (
        <RowsBehind
          key={JSON.stringify([picked.key, picked.currencyCode])}
          group={picked}
          source={source}
          filters={recordOf(args["filters"])}
          close={() => setPicked(undefined)}
        />
      )}
      {answer && <GroupTable groups={groups} total={numberOf(answer["itemsTotal"])} pick={pick} />}
      <Notes notes={textsOf(answer?.["notes"])} />
    </main>
  );
};
