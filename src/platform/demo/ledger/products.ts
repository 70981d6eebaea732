import type { Dice } from "../dice.ts";

type Product = { code: string; description: string; unit: string; cents: number };

const PRODUCTS: readonly Product[] = `
FB-1016|Hex bolt M10 x 60, zinc plated, box of 100|BX|4180
FB-1220|Hex bolt M12 x 80, stainless A2, box of 50|BX|6890
FN-2010|Lock nut M10, box of 200|BX|2750
FW-3110|Flat washer M10, box of 500|BX|1980
AN-0412|Wedge anchor 1/2 in x 4-1/4 in, box of 25|BX|5430
SC-0808|Self-drilling screw #8 x 1 in, pail of 2500|PL|8860
BR-6204|Ball bearing 6204-2RS|EA|1145
BR-6310|Ball bearing 6310 C3|EA|6420
BR-2216|Spherical roller bearing 22216|EA|21980
PB-2030|Pillow block UCP 206|EA|3395
CH-0060|Roller chain #60, 10 ft|EA|7210
CP-0110|Jaw coupling L-110, complete|EA|5870
VB-0200|V-belt B-75, 5 pack|PK|9640
GM-0015|Gearmotor 1.5 HP, 56C, 29:1|EA|118500
MT-0050|Motor 5 HP, TEFC, 184T|EA|84200
MT-0150|Motor 15 HP, TEFC, 254T|EA|196400
VF-0075|Variable frequency drive 7.5 HP|EA|142900
PU-0320|Centrifugal pump 3 x 2-10, bronze fitted|EA|388000
PU-0118|Diaphragm pump 1 in, aluminum|EA|97500
SL-0175|Mechanical seal 1-3/4 in, type 21|EA|16450
VL-0250|Gate valve 2-1/2 in, flanged, class 150|EA|38900
VL-0600|Butterfly valve 6 in, lug, EPDM|EA|27650
VL-0100|Ball valve 1 in, brass, full port|EA|2380
AC-0032|Pneumatic cylinder 32 mm x 100 mm|EA|8920
FR-0012|Filter regulator 1/2 in|EA|7480
HH-0012|Hydraulic hose assembly 1/2 in x 48 in|EA|5960
SH-1000|Cold rolled shaft 1 in x 72 in|EA|9330
PL-0250|Steel plate 1/4 in x 4 ft x 8 ft|SH|34700
AG-0020|Angle 2 x 2 x 1/4 in, 20 ft|EA|6840
GR-0019|Bar grating 19-W-4, 3 ft x 20 ft panel|EA|61200
CB-0012|Cable 12/3 SOOW, 250 ft|RL|41800
BX-0606|Enclosure NEMA 4, 16 x 12 x 6 in|EA|18690
SF-0100|Safety relay, dual channel|EA|23100
GL-0010|Cut resistant gloves A4, dozen|DZ|9780
HL-0001|Hard hat, vented, case of 20|CS|31400
LB-0068|Bearing grease EP2, 14 oz, case of 50|CS|32500
LB-0220|Gear oil ISO 220, 55 gal drum|DR|118900
WR-0045|Welding wire 0.045 in, 33 lb spool|SP|10890
CT-0500|Carbide insert CNMG 432, box of 10|BX|12340
CS-0009|Conveyor section 10 ft, 24 in belt|EA|412000
`
  .trim()
  .split("\n")
  .map((line) => {
    const [code = "", description = "", unit = "", cents = ""] = line.split("|");
    return { code, description, unit, cents: Number(cents) };
  })
  .toSorted((one, other) => one.cents - other.cents);

/** What a currency's price list says for one US dollar. */
const PRICE_LEVEL = { USD: 1, CAD: 1.34, EUR: 0.94 } as const;

/** A line of an invoice, in cents of its currency. */
export type Line = Product & { quantity: number; lineCents: number };

const LINES: readonly (readonly [number, number])[] = [
  [1, 30],
  [2, 28],
  [3, 20],
  [4, 13],
  [5, 9],
];

/** So many of one thing are seldom ordered at once. */
const MOST = 400;

/** Lines that come to about a sum; what they really come to is the invoice's. */
export const linesFor = (
  dice: Dice,
  targetCents: number,
  currency: keyof typeof PRICE_LEVEL,
): Line[] => {
  const count = dice.weigh(LINES);
  const level = PRICE_LEVEL[currency];
  const lines = Array.from({ length: count }, (): [string, Line] => {
    const share = (targetCents / count) * (0.6 + 0.8 * dice.share());
    // Nobody orders thousands of something cheap, nor a part of something dear.
    const from = PRODUCTS.findIndex(({ cents }) => cents * level * MOST >= share);
    const until = PRODUCTS.findLastIndex(({ cents }) => cents * level <= share) + 1;
    const fitting = PRODUCTS.slice(from, until);
    const product = dice.pick(fitting.length === 0 ? PRODUCTS.slice(0, 4) : fitting);
    const cents = Math.round(product.cents * level);
    const quantity = Math.max(1, Math.round(share / cents));
    return [product.code, { ...product, cents, quantity, lineCents: quantity * cents }];
  });
  return [...new Map(lines).values()];
};
