// D-<document number>-NN
const CODE = /^D-(?<documentNumber>.+)-\d{2,}$/i;

/** Returns the document number in a dispute code; undefined for any other text. */
export const parseDisputeCode = (code: string): string | undefined =>
  CODE.exec(code)?.groups?.["documentNumber"];
