import { recordOf } from "../answers.ts";
import { count, money, plainText, words } from "../format.ts";
import { type Column, Table } from "../ui/table.tsx";
import { labelOf } from "./group-chart.tsx";
import type { Group } from "./sources.ts";

const OPS: Record<string, string> = { sum: "", avg: "average ", min: "least ", max: "most " };

const isMoney = (field: string): boolean => /amount|balance|taken/i.test(field);

/** A column for each figure that the answer has. */
const figureColumns = (groups: readonly Group[]): Column<Group>[] =>
  Object.entries(OPS).flatMap(([op, word]) => {
    const fields = new Set(groups.flatMap(({ item }) => Object.keys(recordOf(item[op]))));
    return [...fields].map((field) => ({
      name: words(`${word}${field}`),
      isNumber: true,
      cell: ({ item, currencyCode }: Group) => {
        const value = recordOf(item[op])[field];
        return isMoney(field) ? money(value, currencyCode) : plainText(value);
      },
    }));
  });

type TableProps = {
  groups: readonly Group[];
  total: number;
  pick: (group: Group) => void;
};

export const GroupTable = ({ groups, total, pick }: TableProps) => {
  if (groups.length === 0) return null;
  const columns: Column<Group>[] = [
    {
      name: "Group",
      cell: (group) => (
        <button type="button" class="link" onClick={() => pick(group)}>
          {labelOf(group)}
        </button>
      ),
    },
    {
      name: "Currency",
      cell: ({ currencyCode }) => plainText(currencyCode) || "None",
      isMinor: true,
    },
    { name: "Payments", isNumber: true, cell: ({ item }) => count(item["payments"]) },
    { name: "Rows", isNumber: true, isMinor: true, cell: ({ item }) => count(item["rows"]) },
    ...figureColumns(groups),
  ];
  return (
    <section class="card">
      <h2>
        Figures{" "}
        <span class="meta">
          {count(groups.length)} of {count(total)} groups
        </span>
      </h2>
      <Table
        caption="Payments by group"
        columns={columns}
        rows={groups}
        keyOf={(group) => JSON.stringify([group.key, group.currencyCode])}
      />
    </section>
  );
};
