import { useState } from "preact/hooks";
import { numberOf, totalsOf } from "../answers.ts";
import { counted, money } from "../format.ts";
import type { Fields } from "../host.ts";
import { type Bar, Columns } from "../ui/bars.tsx";
import { useCurrency } from "../ui/fields.tsx";

const labelOf = (bucket: string): string =>
  bucket === "current" ? "Not due" : `${bucket.replace("-", "–")} days`;

/** Open balances by days past due, one currency at a time; a column shows its figures below. */
export const AccountAging = ({ daysPastDue }: { daysPastDue: Fields }) => {
  const buckets = Object.entries(daysPastDue).map(([key, totals]) => ({
    key,
    totals: totalsOf(totals),
  }));
  const codes = [
    ...new Set(buckets.flatMap(({ totals }) => totals.map((one) => one.currencyCode))),
  ];
  const { currency, tabs } = useCurrency(codes);
  const [picked, setPicked] = useState<Bar>();
  if (codes.length === 0) return null;
  const bars = buckets.map(({ key, totals }): Bar => {
    const total = totals.find(({ currencyCode }) => currencyCode === currency);
    return {
      key,
      label: labelOf(key),
      tick: labelOf(key).replace(" days", ""),
      value: numberOf(total?.amount),
      text: money(total?.amount ?? 0, currency),
      detail: counted(total?.count ?? 0, "document"),
      isSelected: picked?.key === key,
    };
  });
  const shown = bars.find(({ isSelected }) => isSelected);
  return (
    <section class="card">
      <div class="bar-head">
        <h2>
          Open documents by days past due <span class="meta">in {currency}</span>
        </h2>
        {tabs}
      </div>
      <Columns
        title={`Open documents by days past due in ${currency}`}
        bars={bars}
        formatTick={(value) => money(value, currency, true)}
        onPick={(bar) => setPicked(bar.isSelected ? undefined : bar)}
      />
      <p class="meta" role="status">
        {shown && `${shown.label}: ${shown.text}, ${shown.detail}`}
      </p>
    </section>
  );
};
