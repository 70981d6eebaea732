import { currenciesOf, numberOf, recordOf } from "../answers.ts";
import { counted, money, plainText, span } from "../format.ts";
import { type Bar, Columns, Rows } from "../ui/bars.tsx";
import { useCurrency } from "../ui/fields.tsx";
import { Empty } from "../ui/status.tsx";
import type { Group, Source } from "./sources.ts";

/** Names a group by its values. */
export const labelOf = ({ key }: Pick<Group, "key">): string => {
  const values = Object.entries(key).map(([name, value]) =>
    value === null ? "None" : span(name, plainText(value)),
  );
  return values.length === 0 ? "All" : values.join(" · ");
};

/** The amount of a group: the sum of the source's amount, else the first figure that was measured. */
export const amountOf = ({ item }: Group, { amount }: Source): unknown => {
  const figures = ["sum", "avg", "max", "min"].map((op) => recordOf(item[op]));
  return figures[0]?.[amount] ?? figures.flatMap((one) => Object.values(one))[0];
};

const isSpans = ([group]: readonly Group[]): boolean =>
  Object.keys(group?.key ?? {}).length === 1 &&
  Object.keys(group?.key ?? {})[0]?.includes(":") === true;

const MOST_ROWS = 20;

type ChartProps = {
  groups: readonly Group[];
  source: Source;
  isPicked: (group: Group) => boolean;
  pick: (group: Group) => void;
};

/** Amounts of one currency: columns for spans of time, else rows. */
export const GroupChart = ({ groups, source, isPicked, pick }: ChartProps) => {
  const { currency, tabs } = useCurrency(
    currenciesOf(
      groups.map(({ item }) => item),
      "payments",
    ),
  );
  const shown = groups.filter(({ currencyCode }) => plainText(currencyCode) === currency);
  const bars = shown.map((group, place): Bar => {
    const amount = amountOf(group, source);
    return {
      key: String(place),
      label: labelOf(group),
      value: numberOf(amount),
      text: money(amount, currency),
      detail: counted(numberOf(group.item["payments"]), "payment"),
      isSelected: isPicked(group),
    };
  });
  const pickBar = ({ key }: Bar): void => {
    const group = shown[Number(key)];
    if (group) pick(group);
  };
  const title = `Payments in ${currency || "no currency"}`;
  return (
    <section class="card">
      <div class="bar-head">
        <h2>
          Payments{" "}
          {currency && <span class="meta">in {currency}; choose a bar to see its rows</span>}
        </h2>
        {tabs}
      </div>
      {bars.length === 0 && <Empty>No payment matches these filters.</Empty>}
      {bars.length > 0 && isSpans(shown) && (
        <Columns
          title={title}
          bars={bars}
          formatTick={(value) => money(value, currency, true)}
          onPick={pickBar}
        />
      )}
      {bars.length > 0 && !isSpans(shown) && (
        <Rows title={title} bars={bars.slice(0, MOST_ROWS)} onPick={pickBar} />
      )}
    </section>
  );
};
