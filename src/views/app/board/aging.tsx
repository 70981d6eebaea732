import { currenciesOf, listOf, numberOf, recordOf } from "../answers.ts";
import { counted, money, plainText } from "../format.ts";
import type { Fields } from "../host.ts";
import { type Bar, Columns } from "../ui/bars.tsx";
import { useCurrency } from "../ui/fields.tsx";
import { Empty, Failure, Loading } from "../ui/status.tsx";
import { useCall } from "../ui/use-call.ts";
import { agingArgs, changed, createdWithin, flagsOf } from "./filters.ts";

type AgingProps = {
  args: Fields;
  asOf: string;
  change: (change: Fields) => void;
  isPaused: boolean;
};

/** Open amounts by age, one currency at a time; a column filters the worklist by its age. */
export const Aging = ({ args, asOf, change, isPaused }: AgingProps) => {
  const { answer, problem, reload } = useCall("disputes_summary", agingArgs(args), {
    isPaused,
  });
  const items = listOf(answer?.["items"]);
  const { currency, tabs } = useCurrency(currenciesOf(items, "count"));
  const spanOf = (bucket: string): Fields => changed({}, createdWithin(bucket, asOf));
  const isSelected = (bucket: string): boolean => {
    const { createdFrom, createdTo } = spanOf(bucket);
    return args["createdTo"] === createdTo && args["createdFrom"] === createdFrom;
  };
  const bars = items
    .filter((item) => plainText(item["currencyCode"]) === currency)
    .map((item): Bar => {
      const bucket = plainText(recordOf(item["key"])["age"]);
      return {
        key: bucket,
        label: `${bucket.replace("-", "–")} days`,
        tick: bucket.replace("-", "–"),
        value: numberOf(item["amount"]),
        text: money(item["amount"], currency),
        detail: counted(numberOf(item["count"]), "dispute"),
        isSelected: isSelected(bucket),
      };
    });
  const pick = ({ key, isSelected: isOn }: Bar): void => {
    const none = { createdFrom: undefined, createdTo: undefined };
    change(isOn ? none : { ...none, ...createdWithin(key, asOf) });
  };
  return (
    <section class="card">
      <div class="bar-head">
        <h2>Aging {currency && <span class="meta">days since opening, in {currency}</span>}</h2>
        {tabs}
      </div>
      {flagsOf(args).length > 0 && (
        <p class="meta">The chart counts disputes with and without the marks chosen below.</p>
      )}
      {problem && <Failure problem={problem} retry={reload} />}
      {!answer && !problem && <Loading what="Adding up" />}
      {answer && bars.length === 0 && <Empty>No amounts.</Empty>}
      {bars.length > 0 && (
        <Columns
          title={`Disputed amounts by age in ${currency}`}
          bars={bars}
          formatTick={(value) => money(value, currency, true)}
          onPick={pick}
        />
      )}
    </section>
  );
};
