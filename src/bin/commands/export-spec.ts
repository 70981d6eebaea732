import { createOpenApi } from "../../contract/openapi.ts";
import type { Io } from "./io.ts";

/** Prints the API document of `/openapi.json`; opens no store. */
export const exportSpec = async ({ config, version, print }: Io): Promise<void> => {
  print(createOpenApi({ headerWord: config.headerWord, version }));
};
