/** The principal of administrative commands in the records that they change. */
export const OPERATOR = { id: "admin" };
