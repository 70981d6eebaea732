const FOLDER = "export-runs";

/** The keys of the files that one try of a run writes; another try writes others. */
export const chunkKeys =
  (connectionId: string, runId: string, tryId: string) =>
  (number: number): string =>
    `${connectionId}/${FOLDER}/${runId}/${tryId}-${number}`;

/** The run that a file was written for; undefined for a file of another kind. */
export const runOfKey = (key: string): string | undefined => {
  const [, folder, runId] = key.split("/");
  return folder === FOLDER ? runId : undefined;
};
