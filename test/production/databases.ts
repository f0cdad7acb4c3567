import { readFileSync } from 'node:fs'
import pg from 'pg'
import { type EmbeddedPostgres, startPostgres } from '../../src/platform/embedded-postgres.ts'

type Env = Readonly<Record<string, string>>

/** A cluster as its image makes it: a superuser of that name, and then `roles.sql`. */
export async function startCluster(
  dataDir: string,
  env: Env,
): Promise<{ server: EmbeddedPostgres; address: string }> {
  const server = await startPostgres({ dataDir, port: 0 })
  const { host } = new URL(server.url)
  const administer = (user: string, password: string, text: string) =>
    query(`postgres://${user}:${password}@${host}/postgres`, text)
  const { POSTGRES_PASSWORD: password = '' } = env
  const embedded = new URL(server.url)
  await administer(
    embedded.username,
    embedded.password,
    `create role postgres superuser login password '${password}'`,
  )
  // Ours has a role and a database of the names that the file is to make.
  await administer('postgres', password, 'alter role agentpay rename to embedded')
  await administer('postgres', password, 'alter database agentpay rename to embedded')
  for (const statement of statements(readFileSync('postgres-config/roles.sql', 'utf8'), env))
    await administer('postgres', password, statement)
  return { server, address: host }
}

async function query(connectionString: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    await client.query(text)
  } finally {
    await client.end()
  }
}

/** What psql would send: `\getenv` names a variable of the environment, and `:'name'` is its value. */
function statements(script: string, env: Env): string[] {
  const values = new Map(
    [...script.matchAll(/^\\getenv (\w+) (\w+)$/gm)].map(([, name, from = '']) => [name, env[from]]),
  )
  return script
    .replace(/^(\\|--).*$/gm, '')
    .replace(/:'(\w+)'/g, (_, name) => pg.escapeLiteral(values.get(name) ?? ''))
    .split(';')
    .map(statement => statement.trim())
    .filter(Boolean)
}
