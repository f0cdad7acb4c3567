export type Row = Record<string, unknown>

/** Runs one statement with its values on the connection or pool that it is bound to. */
export type Sql = <R extends Row = Row>(text: string, values?: readonly unknown[]) => Promise<R[]>
