/** The open amount, in the document's or the base currency. */
export type Amounts = {
  denomination?: number | undefined;
  denomination_in_base_currency?: number | undefined;
};

export type Status = "open" | "closed";

/** The amounts in the body of a write, and those of the record after it. */
export type Written = { sent: Amounts; result: Amounts };

export type Move = {
  status: Status;
  /** Whether the write closes a document that was open or new. */
  closes: boolean;
};

const listAmounts = ({ denomination, denomination_in_base_currency }: Amounts): number[] =>
  [denomination, denomination_in_base_currency].filter((amount) => amount !== undefined);

const deriveStatus = (before: Status | undefined, { sent, result }: Written): Status => {
  // An open amount of zero in either currency closes the document.
  if (listAmounts(result).includes(0)) return "closed";
  // Only an amount in the body itself reopens a closed document; its other fields may change.
  const reopens = listAmounts(sent).some((amount) => amount !== 0);
  return before === "closed" && !reopens ? "closed" : "open";
};

/**
 * Returns the status of a document after a write or a requested closure; undefined where the closure is refused.
 * The status is decided here only.
 */
export function move(before: Status | undefined, event: Written): Move;
export function move(before: Status, event: Written | "closure"): Move | undefined;
export function move(before: Status | undefined, event: Written | "closure"): Move | undefined {
  if (event === "closure" && before === "closed") return undefined;
  const status = event === "closure" ? "closed" : deriveStatus(before, event);
  return { status, closes: status === "closed" && before !== "closed" };
}
