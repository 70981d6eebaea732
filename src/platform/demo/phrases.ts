/**
 * What people write under disputes. Slots: {contact} {customer} {po} {invoice} {amount}
 * {part} (of it) {line} (of the invoice) {owner} {day} {ptp} (dates to come) {number} (of a paper) {memo} (of a credit memo).
 * A phrase is said only where all of its slots have something in them: {po} or {noPo}, {terms} without a discount or
 * the {window} in which there is one.
 */
type Phrases = { claim: readonly string[]; evidence: readonly string[] };

/** By reason: what the customer says, and what was found. */
export const BY_REASON: Readonly<Record<string, Phrases>> = {
  "PRICE-CONTRACT": {
    claim: [
      "{contact} says the contract price has applied since the 1st and we billed list. They short-paid {amount}.",
      "Remittance shows {amount} taken with the comment 'price per agreement'. Asked {contact} which agreement.",
      "Customer sent a marked-up copy of {invoice} with their old prices, difference {amount}.",
    ],
    evidence: [
      "Contract on file is signed but the price file was never loaded. Asked {owner} to confirm the effective date.",
      "Checked the price list: line {line} is over by {part}.",
      "Quote Q-{number} supports the customer's price. Needs pricing sign-off before a credit.",
    ],
  },
  "PRICE-PO": {
    claim: [
      "PO {po} has the lower unit price. {contact} will pay the balance once {amount} is credited.",
      "Customer AP says {invoice} does not match PO {po}: unit price. System blocks the invoice on their side.",
      "{contact} e-mailed the PO. Price was changed after the order was acknowledged, difference {amount}.",
    ],
    evidence: [
      "Order acknowledgement shows our price and went out before shipping; nobody objected at the time.",
      "Sales accepted the PO price by e-mail, order entry missed it. Looks valid.",
      "Unit of measure mix-up: PO is per box, we invoice per each. Rechecking.",
    ],
  },
  "SHORT-SHIP": {
    claim: [
      "{contact} says two pallets were missing against packing list {number}. Claim {amount}.",
      "Customer received short, driver noted it on the delivery receipt. Deducted {amount} from this week's check.",
      "Receiving report attached to the remittance: quantity short on line {line}, {amount}.",
    ],
    evidence: [
      "BOL {number} shows full count at our dock. Asked the carrier for their scan.",
      "Pick ticket confirms a back order that was invoiced by mistake. Looks valid for {part}.",
      "Carrier confirms one pallet misdelivered and returned to terminal. Waiting for the claim form.",
    ],
  },
  "NO-POD": {
    claim: [
      "{contact} will release {invoice} as soon as they have a signed POD.",
      "Customer cannot find the receipt for PO {po} and asks for proof of delivery. Whole invoice is held.",
      "AP portal rejects {invoice}: 'goods receipt missing'. {contact} asks for POD.",
    ],
    evidence: [
      "Pulled the POD from the carrier site, signature is legible. Sent POD to {contact}.",
      "POD requested from the carrier, tracking {number}. They quote 3 to 5 days.",
      "Sent POD to the AP mailbox and copied {contact}. Waiting for release.",
    ],
  },
  LATE: {
    claim: [
      "Chargeback for late delivery under their routing guide, {amount}.",
      "{contact} took the vendor compliance penalty, {amount}: delivered two days after the window.",
    ],
    evidence: [
      "Delivery appointment was moved by their own DC, see e-mail in the order file.",
      "We did ship late by one day. Routing guide allows a penalty only from the third day.",
    ],
  },
  DAMAGED: {
    claim: [
      "Crates arrived wet, {contact} refused part of the delivery. Claim {amount}.",
      "Customer sent photos: three units dented, packaging crushed. They want {amount}.",
      "Freight damage noted on delivery receipt. {contact} deducted {amount}.",
    ],
    evidence: [
      "Photos received, damage is clear. Opened a carrier claim, number {number}.",
      "No damage noted on the delivery receipt and the claim came 19 days later. Asked for photos.",
      "Inspection by our rep confirms: replace two, scrap one. Credit {part}.",
    ],
  },
  RETURNED: {
    claim: [
      "Goods went back under RMA {number}; {contact} is waiting for the credit of {amount}.",
      "Customer deducted {amount} for a return. No RMA on the debit memo.",
      "{contact}: 'returned six weeks ago, still no credit memo'. Amount {amount}.",
    ],
    evidence: [
      "RMA {number} was received at the dock but never closed in the system. Asked the warehouse to inspect.",
      "Return received, two cartons not resaleable. Restocking fee applies, credit would be {part}.",
      "No return found under this account or PO {po}. Asked for the tracking number.",
    ],
  },
  "OFF-SPEC": {
    claim: [
      "Line rejected at incoming inspection, hardness out of tolerance. {contact} holds {amount}.",
      "Customer reports wrong finish on the whole lot. NCR {number} opened, {amount} withheld.",
    ],
    evidence: [
      "Lab retest of the retained sample is inside the tolerance. Sent the certificate to {contact}.",
      "Lot trace shows a mixed heat. Quality agrees with the customer for part of the lot, about {part}.",
    ],
  },
  "DUP-INVOICE": {
    claim: [
      "{contact} says PO {po} was already billed. They will not pay {invoice}.",
      "Customer statement shows the same shipment twice. Disputes {invoice} in full, {amount}.",
    ],
    evidence: [
      "Two invoices from the same shipment after the system restart that day. Looks like a real duplicate.",
      "Different ship dates and BOL numbers: two deliveries on one blanket PO, no duplicate.",
    ],
  },
  "MISSING-PO": {
    claim: [
      "Customer's system needs a PO number on the invoice; {invoice} has {noPo}. {contact} asks for a corrected copy.",
      "Invoice rejected by their network: {noPo} on it.",
      "{contact}: PO {po} is closed, please bill to the new one. {amount} on hold.",
      "Invoice rejected by their network, line {line} does not match PO {po}.",
    ],
    evidence: [
      "Found the PO in the order notes, though the invoice has {noPo}. Asked billing for a corrected one.",
      "Order was taken by phone, {noPo} given. {contact} will get one from the plant.",
      "Their buyer replaced PO {po} after the order. Asked {contact} for the new one.",
      "Resubmitted through the customer's portal with PO {po}, confirmation {number}.",
    ],
  },
  "BILL-TO": {
    claim: [
      "Invoice went to the wrong entity. {contact} wants it on the other division.",
      "{customer} moved AP to the shared service center; {invoice} has the old bill-to.",
    ],
    evidence: [
      "Master data shows the new bill-to since the 15th, the order was older. Rebill needed.",
      "Asked {contact} for the legal name and tax number of the paying entity.",
    ],
  },
  "ALREADY-PAID": {
    claim: [
      "{contact} says {invoice} was paid by ACH, trace {number}.",
      "Customer sent a copy of the cleared check for {amount}.",
      "They show {invoice} as paid in last month's run. Remittance to follow.",
    ],
    evidence: [
      "Found {amount} in unapplied cash on the parent account. Asked cash app to move it.",
      "Trace {number} not found at the bank. Asked {contact} for the full remittance.",
      "Payment was applied to an older invoice of the same amount.",
    ],
  },
  PROMO: {
    claim: [
      "Seasonal co-op allowance taken by the customer, {amount}. Debit memo {number}.",
      "{contact} deducted the volume rebate early, {amount}.",
      "End-cap promotion, {amount}. No promotion number on the debit memo.",
    ],
    evidence: [
      "Promotion is in the calendar but ended a week before the invoice date.",
      "Asked sales for the signed promotion form. Proof of performance still missing.",
      "Accrual covers {part}; the rest has no agreement behind it.",
    ],
  },
  "UNEARNED-DISC": {
    claim: [
      "Took the cash discount 11 days after the {window}, {amount}.",
      "Paid on the last day and took the discount of the first {window}, {amount}.",
      "{contact} says 2% 10 net 30 was agreed. Terms on file are {terms}. {amount} short.",
      "Took a cash discount of {amount}. Terms on file are {terms}, nobody here has promised one.",
    ],
    evidence: [
      "Payment was dated inside the {window} but received 9 days after.",
      "Fourth unearned discount this quarter. Sent the terms letter to {contact}.",
      "Sent {contact} the invoice copy with the terms marked.",
      "Not the first time for this account. Sales wants to talk to them before we deny.",
    ],
  },
  FREIGHT: {
    claim: [
      "{contact}: order was prepaid freight, we billed {amount}.",
      "Fuel surcharge and liftgate deducted, {amount}. Customer says terms are delivered.",
      "Freight charged twice according to {contact}, {amount}.",
    ],
    evidence: [
      "Order terms are FOB origin, prepaid and add. Charge looks right.",
      "Order crossed the free freight limit, the charge should not be there.",
      "Carrier invoice {number} has a re-delivery fee; receiver was closed.",
    ],
  },
  TAX: {
    claim: [
      "{contact} says they are exempt and sent no certificate yet. Tax {amount}.",
      "Customer paid short by the sales tax, {amount}. Resale certificate promised.",
    ],
    evidence: [
      "Certificate received, valid for the ship-to state. Sent to tax for approval.",
      "Certificate on file expired before the invoice date. Asked {contact} for a new one.",
    ],
  },
};

export const CHASES: readonly string[] = [
  "Chased {owner}, no answer yet.",
  "Second reminder to {owner}. Customer asks for an answer by {day}.",
  "Left a voicemail for {contact}.",
  "{contact} is out until {day}, will call back then.",
  "Called {contact}: nothing new on their side, they wait for us.",
  "Dunning is on hold for {invoice} while this is open.",
];

export const ESCALATIONS: readonly string[] = [
  "Escalated to Ellen, over 45 days without a decision.",
  "Customer threatens to hold the next order. Escalated to the account manager.",
  "On the agenda of the weekly dispute call. {owner} to bring the paperwork.",
  "Asked {owner} for a yes or no by {day}; otherwise I propose to credit {part}.",
];

export const PROMISES: readonly string[] = [
  "PTP {ptp} {part} per {contact}, the rest stays in dispute.",
  "{contact} agreed to pay the undisputed part. PTP {ptp} {part}.",
  "Spoke with {contact}. PTP {ptp} {part}, confirmation by e-mail.",
];

export const ORPHANED: readonly string[] = [
  "Robert has left, this needs a new owner.",
  "Was with Robert Keane. Nobody has picked it up since.",
];

export const ON_LEAVE: readonly string[] = [
  "Priya is on leave, her auto-reply names Tom for urgent ones.",
];

/** By resolution: the note that closes. */
export const ENDINGS: Readonly<Record<string, readonly string[]>> = {
  "CREDIT-FULL": [
    "Credit memo CM-{memo} over {amount} issued and sent to {contact}. Closed.",
    "Approved in full. CM-{memo} posted, hold released.",
  ],
  "CREDIT-PART": [
    "Agreed with {contact} on {part}. CM-{memo} issued, the rest is due.",
    "Partial credit {part}, customer accepts and pays the balance. Closed.",
  ],
  REBILLED: [
    "Credited and rebilled under a new invoice, copy to {contact}. Closed.",
    "Corrected invoice sent and accepted in the customer's portal.",
  ],
  "WRITE-OFF": [
    "Below tolerance, written off with Ellen's approval.",
    "Not worth another call: {amount} written off. Watch for a repeat.",
  ],
  DENIED: [
    "Denied. Letter with documents sent to {contact}, balance is due.",
    "No basis for the claim. {contact} informed, back in dunning.",
  ],
  "POD-ACCEPTED": [
    "{contact} accepted the POD and released {invoice} for payment.",
    "POD accepted, payment comes with the next run. Closed.",
  ],
  PAID: [
    "Payment found in unapplied cash and applied. Closed.",
    "Cash app found the payment on another invoice and moved it.",
  ],
  DUPLICATE: ["Same claim as an earlier dispute on this invoice; worked there."],
};

export const CANCELLATIONS: readonly string[] = [
  "Opened by mistake, customer meant another invoice.",
  "{contact} withdrew the claim.",
  "Keyed twice. Nothing to do.",
];
