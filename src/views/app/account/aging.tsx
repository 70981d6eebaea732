import { useState } from "preact/hooks";
import { numberOf, totalsOf } from "../answers.ts";
import { counted, money } from "../format.ts";
import type { Fields } from "../host.ts";
import { type Bar, Columns } from "../ui/bars.tsx";
import { Currencies } from "../ui/fields.tsx";

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
  const [chosen, setChosen] = useState<string>();
  const [picked, setPicked] = useState<Bar>();
  const currency = chosen !== undefined && codes.includes(chosen) ? chosen : (codes[0] ?? "");
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
        <Currencies codes={codes} value={currency} onChange={setChosen} />
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
