import { readFileSync } from 'node:fs'
import pg from 'pg'
import { type EmbeddedPostgres, startPostgres } from '../../src/dev/postgres/embedded-postgres.ts'
import type { Compose } from './compose.ts'

type Secrets = Pick<Compose, 'secrets'>

export const secretOf = ({ secrets }: Secrets, name: string): string =>
  readFileSync(secrets[name]?.file ?? `no secret ${name}`, 'utf8').trim()

/** A cluster as its image creates it: with the superuser `postgres`, and then by `roles.sql`. */
export async function startCluster(
  dataDir: string,
  compose: Secrets,
): Promise<{ server: EmbeddedPostgres; address: string }> {
  const server = await startPostgres({ dataDir, port: 0 })
  const { host, href } = new URL(server.url)
  const password = secretOf(compose, 'postgres_password')
  await administer(href, `create role postgres superuser login password '${password}'`)
  const url = `postgres://postgres:${password}@${host}/postgres`
  // The embedded server already has a role and a database of the names that the file creates.
  await administer(url, 'alter role agentpay rename to embedded')
  await administer(url, 'alter database agentpay rename to embedded')
  await runScript(url, 'postgres-config/roles.sql', compose)
  return { server, address: host }
}

/** Runs a psql script statement by statement, as some statements cannot run in a transaction. */
export async function runScript(url: string, file: string, compose: Secrets): Promise<void> {
  for (const statement of statements(readFileSync(file, 'utf8'), compose)) await administer(url, statement)
}

async function administer(connectionString: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    await client.query(text)
  } finally {
    await client.end()
  }
}

/** The statements that psql would send: `\\set` reads a secret's file, and `:'name'` is its value. */
function statements(script: string, compose: Secrets): string[] {
  const values = new Map(
    [...script.matchAll(/^\\set (\w+) `cat \/run\/secrets\/(\w+)`$/gm)].map(([, name, secret = '']) => [
      name,
      secretOf(compose, secret),
    ]),
  )
  return script
    .replace(/^(\\|--).*$/gm, '')
    .replace(/:'(\w+)'/g, (_, name) => pg.escapeLiteral(values.get(name) ?? ''))
    .split(';')
    .map(statement => statement.trim())
    .filter(Boolean)
}
