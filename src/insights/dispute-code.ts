// D-<document number>-NN
const CODE = /^D-(?<documentNumber>.+)-\d{2,}$/i;

/** Returns the document number in a dispute code; undefined for any other text. */
export const parseDisputeCode = (code: string): string | undefined =>
  CODE.exec(code)?.groups?.["documentNumber"];

/** Returns the document numbers of the dispute codes of which a text may be a part, such as `D-4711` or `4711-01`. */
export const guessDocumentNumbers = (text: string): string[] => {
  const beginning = text.replace(/^D-/i, "");
  const whole = new Set([beginning, beginning.replace(/-\d{0,2}$/, "")]);
  return [...whole].filter((number) => number !== text && number !== "");
};
