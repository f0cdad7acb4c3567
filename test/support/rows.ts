import pg from 'pg'

/** Runs work on a connection of the database's owner. */
export async function withConnection<T>(
  databaseUrl: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

export const queryValues = (databaseUrl: string, text: string, values: unknown[] = []): Promise<unknown[]> =>
  withConnection(databaseUrl, async client =>
    (await client.query({ text, values, rowMode: 'array' })).rows.flat(),
  )

export const createTables = (databaseUrl: string, statements: string): Promise<unknown> =>
  withConnection(databaseUrl, client => client.query(statements))
