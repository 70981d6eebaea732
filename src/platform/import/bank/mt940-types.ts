import { GVC_TYPES } from "./gvc-types.ts";
import { createTypeTable, type RecordType } from "./types.ts";

/** Types of MT940 credits: SWIFT transaction type codes in :61: (without the N or F before them), and German GVC. */
export const MT940_TYPES: readonly RecordType[] = [
  ...createTypeTable([
    {
      take: true,
      reason: "a customer's payment",
      types: [
        ["TRF", "Transfer"],
        ["CHK", "Cheques"],
        ["CLR", "Cash letters and cheque remittance"],
        ["COL", "Collections"],
        ["DCR", "Documentary credit"],
        ["DDT", "Direct debit"],
        ["BOE", "Bill of exchange"],
        ["LBX", "Lock box"],
        ["MSC", "Miscellaneous"],
        ["STO", "Standing order"],
      ],
    },
    {
      take: false,
      reason: "gives back a payment of the company's own",
      types: [["RTI", "Returned item"]],
    },
    {
      take: false,
      reason: "a transfer between the company's own accounts",
      types: [
        ["CMI", "Cash management item"],
        ["CMN", "Notional pooling"],
        ["CMS", "Sweeping"],
        ["CMT", "Topping"],
        ["CMZ", "Zero balancing"],
        ["EXT", "External transfer for own account"],
      ],
    },
    {
      take: false,
      reason: "not a customer's payment",
      types: [
        ["BNK", "Bank fees of securities"],
        ["BRF", "Brokerage fee"],
        ["CHG", "Charges"],
        ["COM", "Commission"],
        ["CPN", "Coupon payments"],
        ["DIS", "Gain disbursement"],
        ["DIV", "Dividends"],
        ["EQA", "Equivalent amount"],
        ["FEX", "Foreign exchange"],
        ["INT", "Interest"],
        ["LDP", "Loan deposit"],
        ["MAT", "Maturity"],
        ["ODC", "Overdraft charge"],
        ["OPT", "Options"],
        ["PRN", "Principal payment"],
        ["REC", "Tax reclaim"],
        ["RED", "Redemption or withdrawal"],
        ["SAL", "Sale of securities"],
        ["SEC", "Securities"],
        ["SLE", "Securities lending"],
        ["SWP", "Swap"],
        ["TAX", "Withholding tax payment"],
        ["TRN", "Transaction fee"],
        ["VDA", "Value date adjustment"],
        ["WAR", "Warrant"],
      ],
    },
  ]),
  ...GVC_TYPES,
];
