/** Who an import acts as in the records that it makes and changes. */
export const IMPORTER = { id: "import" };
