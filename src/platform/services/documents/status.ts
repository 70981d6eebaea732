/** What is left to pay, under either of its names. */
export type Amounts = {
  denomination?: number | undefined;
  denomination_in_base_currency?: number | undefined;
};

export type Status = "open" | "closed";

/** The amounts in the body of a write, and those of the record that it leaves behind. */
export type Written = { sent: Amounts; result: Amounts };

export type Move = {
  status: Status;
  /** Whether the document was open, or not there, and is closed now. */
  closes: boolean;
};

const amountsOf = ({ denomination, denomination_in_base_currency }: Amounts): number[] =>
  [denomination, denomination_in_base_currency].filter((amount) => amount !== undefined);

const statusAfter = (before: Status | undefined, { sent, result }: Written): Status => {
  // Nothing left to pay in one currency is nothing left, whatever the other says.
  if (amountsOf(result).includes(0)) return "closed";
  // Only an amount that the body itself bears reopens; other fields of a closed document may change.
  const reopens = amountsOf(sent).some((amount) => amount !== 0);
  return before === "closed" && !reopens ? "closed" : "open";
};

/**
 * Where a write, or a closure that somebody asks for, takes a document: the only place that decides its status.
 * Undefined where the closure is refused.
 */
export function move(before: Status | undefined, event: Written): Move;
export function move(before: Status, event: Written | "closure"): Move | undefined;
export function move(before: Status | undefined, event: Written | "closure"): Move | undefined {
  if (event === "closure" && before === "closed") return undefined;
  const status = event === "closure" ? "closed" : statusAfter(before, event);
  return { status, closes: status === "closed" && before !== "closed" };
}
