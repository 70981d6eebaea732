import { choice, date, datetime, type Field, integer, money, string, withCommon } from "./field.ts";

/** Rows of the business payment network: one for each line of a payment's remittance. */
export const bpn: readonly Field[] = withCommon([
  string("*+networkPaymentId", "the payment in the network"),
  string("*+payerId", "the payer in the network"),
  string("*payerName", "who paid"),
  string("supplierId", "the supplier in the network"),
  string("supplierName", "who was paid"),
  string("*+accountNumber", "the customer's account"),
  date("*+paymentDate", "when it was paid"),
  date("*settlementDate", "when the money arrived"),
  choice("*paymentMethod", "how it was paid", "vcard", "ach", "wire", "check"),
  money("*paymentAmount", "the whole payment, on each of its rows"),
  string("*currencyCode", "ISO 4217 code of every amount of the row"),
  money("feeAmount", "the network's fee"),
  money("*netAmount", "the payment less the fee"),
  string("*traceNumber", "the bank's trace number"),
  string("*remittanceId", "the remittance advice"),
  integer("remittanceLine", "the line in it"),
  string("*+invoiceNumber", "the invoice's number as the customer knows it"),
  money("invoiceAmount", "the invoice's whole amount"),
  money("*amountPaid", "what this line pays of it"),
  money("adjustmentAmount", "what the payer held back"),
  string("adjustmentReasonCode", "why, as the payer says"),
  choice("*deliveryStatus", "how far it is", "received", "processing", "delivered", "returned"),
  string("cardLast4", "last four digits of the card"),
  datetime("processedAt", "when the network processed it"),
]);
