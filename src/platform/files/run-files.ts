const FOLDER = "export-runs";

/** Returns a function from the number of a chunk to its file key; each attempt of a run has keys of its own. */
export const createChunkKeys =
  (connectionId: string, runId: string, tryId: string) =>
  (number: number): string =>
    `${connectionId}/${FOLDER}/${runId}/${tryId}-${number}`;

/** Returns the id of the run that the file belongs to; undefined for other files. */
export const parseRunId = (key: string): string | undefined => {
  const [, folder, runId] = key.split("/");
  return folder === FOLDER ? runId : undefined;
};
