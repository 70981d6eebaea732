import { useEffect, useRef } from "preact/hooks";
import { listOf, recordOf } from "../answers.ts";
import { cell, tenantZone, words } from "../format.ts";
import type { Fields } from "../host.ts";
import { Empty, Failure, Loading } from "../ui/status.tsx";
import { Table } from "../ui/table.tsx";
import { useParts } from "../ui/use-parts.ts";
import { labelOf } from "./group-chart.tsx";
import { type Group, groupFilter, rowFilters, type sourceOf } from "./sources.ts";

const PAGE_ROWS = 25;

type RowsProps = {
  group: Group;
  source: ReturnType<typeof sourceOf>;
  filters: Fields;
  close: () => void;
};

type RowTableProps = {
  caption: string;
  rows: readonly Fields[];
  columns: readonly string[];
  /** The columns of narrow pages. */
  main: readonly string[];
};

const RowTable = ({ caption, rows, columns, main }: RowTableProps) => (
  <Table
    caption={caption}
    rows={rows}
    keyOf={(_row, place) => String(place)}
    columns={columns
      .filter((name) => name !== "currencyCode")
      .map((name) => ({
        name: words(name),
        isNumber: /amount/i.test(name),
        isWhole: /date$/i.test(name),
        isMinor: !main.includes(name),
        cell: (row: Fields) => cell(name, row[name], row["currencyCode"]),
      }))}
  />
);

/** The payment rows behind a figure, read page by page. */
export const RowsBehind = ({ group, source, filters, close }: RowsProps) => {
  const heading = useRef<HTMLHeadingElement>(null);
  const { currencyCode } = group;
  const own = { ...groupFilter(group.key), ...groupFilter({ currencyCode }) };
  const { parts, last, load, retry } = useParts("payments_query", {
    source: source.id,
    fields: source.columns,
    filters: rowFilters(
      Object.keys(filters).length === 0 ? own : { and: [filters, own] },
      tenantZone(),
    ),
    limit: PAGE_ROWS,
  });
  const rows = parts.flatMap(({ answer }) => listOf(answer["data"]));
  useEffect(() => heading.current?.focus(), []);
  const { cursor } = recordOf(last?.kind === "answer" ? last.answer["pagination"] : {});
  return (
    <section class="card">
      <div class="bar-head">
        <h2 ref={heading} tabIndex={-1}>
          Rows of {labelOf(group)}
        </h2>
        <button type="button" onClick={close}>
          Hide rows
        </button>
      </div>
      {rows.length > 0 && (
        <RowTable
          caption={`Payment rows of ${labelOf(group)}`}
          rows={rows}
          columns={source.columns}
          main={["paymentDate", source.name, source.amount]}
        />
      )}
      {last === undefined && <Loading what="Reading rows" />}
      {last?.kind === "problem" && <Failure problem={last.problem} retry={retry} />}
      {last?.kind === "answer" && rows.length === 0 && <Empty>No rows.</Empty>}
      {typeof cursor === "string" && (
        <div class="toolbar">
          <button type="button" onClick={() => void load(cursor)}>
            More rows
          </button>
          <span class="meta">{rows.length} rows are shown.</span>
        </div>
      )}
    </section>
  );
};
