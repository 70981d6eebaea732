/** The last number given to a source's rows of a tenant. */
export type PaymentSequenceRow = { tenant_id: string; source: string; last: number };

/** A row of one source; its further columns are those of the catalogue. */
export type PaymentRow = {
  tenant_id: string;
  seq: number;
  id: string;
  /** Hash of the row in the last imported file. */
  sent_hash: string;
  created_at: string;
  updated_at: string;
} & Record<string, string | number | null>;

export type PaymentTables = {
  payment_sequences: PaymentSequenceRow;
  cashapp_payments: PaymentRow;
  iandp_payments: PaymentRow;
  bpn_payments: PaymentRow;
};
