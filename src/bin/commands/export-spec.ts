import { createOpenApi } from "../../contract/openapi.ts";
import type { Io } from "../io.ts";

/** Prints the API document of `/openapi.json`; opens no store. */
export const exportSpec = ({ config, version, print }: Io): void => {
  print(createOpenApi({ headerWord: config.headerWord, version }));
};
