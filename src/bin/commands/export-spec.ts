import { createOpenApi } from "../../contract/openapi.ts";
import type { Io } from "../io.ts";

/** The API document as `/openapi.json` serves it; no store is opened. */
export const exportSpec = ({ config, version, print }: Io): void => {
  print(createOpenApi({ headerWord: config.headerWord, version }));
};
