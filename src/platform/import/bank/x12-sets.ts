/** Names of X12 transaction sets that companies and banks exchange. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ["810", "invoice"],
  ["812", "credit or debit adjustment"],
  ["820", "payment order or remittance advice"],
  ["821", "financial information reporting"],
  ["822", "account analysis"],
  ["823", "lockbox"],
  ["824", "application advice"],
  ["827", "financial return notice"],
  ["828", "debit authorization"],
  ["831", "application control totals"],
  ["835", "health care claim payment"],
  ["837", "health care claim"],
  ["850", "purchase order"],
  ["855", "purchase order acknowledgment"],
  ["856", "ship notice"],
  ["860", "purchase order change"],
  ["997", "functional acknowledgment"],
  ["999", "implementation acknowledgment"],
]);

export const describeSet = (type: string): string => {
  const name = NAMES.get(type);
  return name === undefined ? type : `${type} (${name})`;
};
