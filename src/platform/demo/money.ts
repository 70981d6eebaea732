// Made once: making a formatter costs more than a thousand uses.
const DECIMAL = new Intl.NumberFormat("en-US", {
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
});

/** Cents as people write an amount: 1,234.50. */
export const decimal = (cents: number): string => DECIMAL.format(cents / 100);
