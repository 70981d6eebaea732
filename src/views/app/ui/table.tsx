import type { ComponentChild } from "preact";
import { money } from "../format.ts";
import type { Fields } from "../host.ts";

export type Column<T> = {
  name: string;
  isNumber?: boolean;
  /** Whether its values stay on one line, as numbers do. */
  isWhole?: boolean;
  /** Whether narrow pages leave the column out. */
  isMinor?: boolean;
  cell: (row: T) => ComponentChild;
};

/** A column of amounts, each in the currency of its row. */
export const amountColumn = (name: string, field: string): Column<Fields> => ({
  name,
  isNumber: true,
  cell: (row) => money(row[field], row["currencyCode"]),
});

type TableProps<T> = {
  caption: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  keyOf: (row: T, place: number) => string;
};

/** A table that scrolls sideways by itself; its first column names the row. */
export const Table = <T,>({ caption, columns, rows, keyOf }: TableProps<T>) => {
  const classOf = ({ isNumber, isWhole, isMinor }: Column<T>): string =>
    [isNumber ? "number" : "", isWhole ? "whole" : "", isMinor ? "minor" : ""].join(" ").trim();
  return (
    <div class="scroll" role="region" aria-label={caption} tabIndex={0}>
      <table>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.name} scope="col" class={classOf(column)}>
                {column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, place) => (
            <tr key={keyOf(row, place)}>
              {columns.map((column, index) =>
                index === 0 ? (
                  <th key={column.name} scope="row" class={classOf(column)}>
                    {column.cell(row)}
                  </th>
                ) : (
                  <td key={column.name} class={classOf(column)}>
                    {column.cell(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
};
