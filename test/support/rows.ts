import pg from 'pg'

/** All values of all rows, in one list; on a connection of its own. */
export async function rows(databaseUrl: string, text: string, values: unknown[] = []): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    return (await client.query({ text, values, rowMode: 'array' })).rows.flat()
  } finally {
    await client.end()
  }
}
