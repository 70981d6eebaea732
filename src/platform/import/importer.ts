/** The user id that an import records as creator and updater. */
export const IMPORTER = { id: "import" };
