/** A reference to the object of a number. */
export type Ref = { ref: number };
/** A string: where it begins and ends among the bytes. */
export type PdfString = { from: number; to: number };
export type Dictionary = Map<string, Value>;
/** A parsed value. Names keep their slash; booleans and null are null, because no check needs them. */
export type Value = number | string | null | Ref | PdfString | Value[] | Dictionary;
