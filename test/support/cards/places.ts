import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client as TemporalClient } from '@temporalio/client'
import pg from 'pg'

export interface Place {
  readonly texts: readonly (string | Buffer)[]
  readonly values: readonly unknown[]
}

/** Every row of every table, as JSON, with bytes in hex. */
export async function rowsOf(databaseUrl: string): Promise<Place> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where c.relkind = 'r' and n.nspname <> 'information_schema' and n.nspname not like 'pg\\_%'`,
    )
    const values: unknown[] = []
    for (const { name } of tables)
      values.push(...(await client.query(`select to_jsonb(t) as row from ${name} t`)).rows)
    return { texts: [JSON.stringify(values)], values }
  } finally {
    await client.end()
  }
}

/** The output of processes; a line of JSON is also a value. */
export function linesOf(outputs: readonly string[]): Place {
  const lines = outputs.flatMap(output => output.split('\n'))
  return { texts: outputs, values: lines.filter(line => line.startsWith('{')).map(line => JSON.parse(line)) }
}

export async function historiesOf({ workflow }: TemporalClient): Promise<Place> {
  const values: unknown[] = []
  for await (const { workflowId, runId } of workflow.list())
    values.push(decoded(await workflow.getHandle(workflowId, runId).fetchHistory()))
  return { texts: [JSON.stringify(values)], values }
}

function decoded(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString()
  if (Array.isArray(value)) return value.map(decoded)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, decoded(member)]))
}

export const filesIn = (folder: string): Place => ({
  texts: readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name))),
  values: [],
})
