/** Who an administrative command acts as in the records that it changes. */
export const OPERATOR = { id: "admin" };
