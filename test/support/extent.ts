import { inject } from "vitest";

/** How many cases of a series run: the first `quick` ones in `npm test`, all of them in `npm run test:all`. */
export const extentOf = (quick: number, all: number): number =>
  inject("runsWholeSeries") ? all : quick;
