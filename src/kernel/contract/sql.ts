/** One row as PostgreSQL answers it, by the names of its columns. */
export type Row = Record<string, unknown>
/** Runs one statement with its values, on whatever connection it was made for. */
export type Sql = <R extends Row = Row>(text: string, values?: readonly unknown[]) => Promise<R[]>
