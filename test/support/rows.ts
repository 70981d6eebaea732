/** A row as lists show it with all its fields: without nulls. */
export const withoutNulls = (row: object): object =>
  Object.fromEntries(
    Object.entries(row).flatMap(([name, value]) =>
      value === null
        ? []
        : [
            [
              name,
              typeof value === "object" && !Array.isArray(value) ? withoutNulls(value) : value,
            ],
          ],
    ),
  );
