import pg from 'pg'

/** On a connection of its own, as who owns the database. */
export async function connected<T>(databaseUrl: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** All values of all rows, in one list; on a connection of its own. */
export const rows = (databaseUrl: string, text: string, values: unknown[] = []): Promise<unknown[]> =>
  connected(databaseUrl, async client => (await client.query({ text, values, rowMode: 'array' })).rows.flat())

/** As who owns the database: tables that only the tests have. */
export const define = (databaseUrl: string, statements: string): Promise<unknown> =>
  connected(databaseUrl, client => client.query(statements))
