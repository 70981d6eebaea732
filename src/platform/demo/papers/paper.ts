/** A record of a file before the file is kept. */
export type Kept<Row> = Omit<Row, "file_key" | "file_size" | "sha256">;

/** A record and the bytes of its file, which are made only when they are asked for. */
export type Paper<Row> = { row: Row; render(): Promise<Uint8Array> };
