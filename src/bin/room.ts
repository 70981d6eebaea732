import { setFlagsFromString } from "node:v8";

/**
 * Runs `act` without more room for new objects: what loading code and the demo tenant fills, V8 would keep, about 32 MB.
 */
export const withoutMoreRoom = async <T>(act: () => Promise<T>): Promise<T> => {
  setFlagsFromString("--semi-space-growth-factor=1");
  try {
    return await act();
  } finally {
    // V8's default.
    setFlagsFromString("--semi-space-growth-factor=2");
  }
};
