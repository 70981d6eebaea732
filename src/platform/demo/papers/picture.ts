import { encode } from "fast-png";
import type { Dice } from "../dice.ts";

const WIDTH = 480;
const HEIGHT = 320;

type Colour = readonly [red: number, green: number, blue: number];
type Point = readonly [x: number, y: number];

const WALL: Colour = [206, 208, 204];
const FLOOR: Colour = [136, 132, 126];
const WOOD: Colour = [150, 108, 66];
const CARTON: Colour = [196, 156, 104];
const SHADE: Colour = [158, 122, 78];
const TAPE: Colour = [224, 206, 160];
const WET: Colour = [116, 88, 58];

const darker = ([red, green, blue]: Colour, by: number): Colour => [
  red * by,
  green * by,
  blue * by,
];

/** How many edges of a shape a line to the right of a point crosses. */
const isInside = ([x, y]: Point, shape: readonly Point[]): boolean => {
  let inside = false;
  for (const [place, [x1, y1]] of shape.entries()) {
    const [x2, y2] = shape[(place + 1) % shape.length] ?? [x1, y1];
    if (y1 > y !== y2 > y && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1) inside = !inside;
  }
  return inside;
};

const canvas = () => {
  const data = new Uint8Array(WIDTH * HEIGHT * 3);
  const fill = (shape: readonly Point[], colour: Colour): void => {
    const [xs, ys] = [shape.map(([x]) => x), shape.map(([, y]) => y)];
    for (let y = Math.max(0, Math.min(...ys)); y < Math.min(HEIGHT, Math.max(...ys)); y += 1) {
      for (let x = Math.max(0, Math.min(...xs)); x < Math.min(WIDTH, Math.max(...xs)); x += 1) {
        if (isInside([x + 0.5, y + 0.5], shape)) data.set(colour, (y * WIDTH + x) * 3);
      }
    }
  };
  const fillBox = (
    left: number,
    top: number,
    width: number,
    height: number,
    colour: Colour,
  ): void => {
    const row = new Uint8Array(width * 3);
    for (let x = 0; x < width; x += 1) row.set(colour, x * 3);
    for (let y = top; y < top + height; y += 1) data.set(row, (y * WIDTH + left) * 3);
  };
  return { data, fill, fillBox };
};

const SIDE = 92;
const TALL = 62;

/** A stack of cartons on a pallet, one of which has had an accident. */
export const damagePicture = (dice: Dice): Uint8Array => {
  const { data, fill, fillBox } = canvas();
  const light = 0.85 + 0.15 * dice.share();
  fillBox(0, 0, WIDTH, 215, darker(WALL, light));
  fillBox(0, 215, WIDTH, HEIGHT - 215, darker(FLOOR, light));
  const left = 70 + dice.whole(0, 40);
  const hurt = dice.whole(0, 5);
  for (const at of [0, 130, 260]) fillBox(left + at, 272, 34, 18, darker(WOOD, light * 0.8));
  fillBox(left - 8, 262, 310, 12, darker(WOOD, light));
  for (let place = 0; place < 6; place += 1) {
    const x = left + (place % 3) * (SIDE + 4);
    const y = 262 - (Math.floor(place / 3) + 1) * TALL;
    if (place === hurt) continue;
    fillBox(x, y, SIDE, TALL, darker(CARTON, light));
    fillBox(x + SIDE - 16, y, 16, TALL, darker(SHADE, light));
    fillBox(x, y + TALL / 2 - 4, SIDE, 8, darker(TAPE, light));
  }
  const x = left + (hurt % 3) * (SIDE + 4);
  const y = 262 - (Math.floor(hurt / 3) + 1) * TALL;
  const sunk = dice.whole(10, 26);
  const crushed: Point[] = [
    [x + 4, y + sunk],
    [x + 30, y + sunk + dice.whole(6, 18)],
    [x + 58, y + 6],
    [x + SIDE - 2, y + sunk - 6],
    [x + SIDE + dice.whole(0, 8), y + TALL],
    [x - dice.whole(0, 6), y + TALL],
  ];
  fill(crushed, darker(CARTON, light * 0.92));
  fill(
    [
      [x + 20, y + TALL],
      [x + 34, y + sunk + 22],
      [x + 66, y + sunk + 16],
      [x + 78, y + TALL],
    ],
    WET,
  );
  return encode({ width: WIDTH, height: HEIGHT, channels: 3, data });
};
