import type pg from 'pg'
import { until } from '../../support/until.ts'
import { node, serve, start } from '../child.ts'
import { type Account, openAccount, openFlows } from '../price/flows.ts'
import { bearer, newOwner, post, type Stage, withClient } from '../stage.ts'

/** Payments of an owner that are made through the service: of ten, so many of each kind. */
const IN_TEN = { wallets: 3, card: 3, intentTransfer: 3, cancelled: 1 } as const
const TENS = 9
export const PAYMENTS = 10 * TENS

/** More than the payments take: the wallets of an owner with many of them never run dry. */
const FUNDED_EUROS = 1_000
const OF_AGENT_EUROS = 500

export interface Table {
  readonly name: string
  readonly columns: readonly { readonly name: string; readonly type: string }[]
  /** The places of the columns of its primary key. */
  readonly key: readonly number[]
}

export type Row = readonly (string | null)[]

export interface TableRows extends Table {
  readonly rows: readonly Row[]
}

/** What the service has written for one owner. */
export interface Template {
  readonly ownerId: string
  readonly token: string
  readonly account: Account
  /** What was there before its payments, among it one of each kind. */
  readonly before: readonly TableRows[]
  readonly after: readonly TableRows[]
}

/** Seals come from the service's own sealer; the other tables hold nothing once a payment has ended, or belong to processes. */
const LEFT_OUT = /^(?:audit_|tenant_clocks$|idempotency_keys$|outbox$|delivery_ranges$|event_streams$)/

const TABLES = `
select c.relname as name,
  (select jsonb_agg(jsonb_build_object('name', a.attname, 'type', format_type(a.atttypid, null)) order by a.attnum)
    from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
      and a.attidentity <> 'a') as columns,
  (select array_agg(a.attname::text) from pg_index i join pg_attribute a on a.attrelid = c.oid and a.attnum = any(i.indkey)
    where i.indrelid = c.oid and i.indisprimary) as key
from pg_class c
where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
  and (c.relname = 'customers'
    or exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'owner_id' and not a.attisdropped))
order by c.relname`

async function readTables(client: pg.Client): Promise<Table[]> {
  const { rows } = await client.query<Omit<Table, 'key'> & { key: string[] }>(TABLES)
  return rows
    .filter(({ name }) => !LEFT_OUT.test(name))
    .map(({ name, columns, key }) => ({
      name,
      columns,
      key: key.map(one => columns.findIndex(column => column.name === one)),
    }))
}

/** All rows of the owner, each value as PostgreSQL writes it. */
const readRows = (stage: Stage, ownerId: string): Promise<TableRows[]> =>
  withClient(stage, async client => {
    await client.query(`set timezone = 'UTC'`)
    const all: TableRows[] = []
    for (const table of await readTables(client)) {
      const columns = table.columns.map(({ name }) => `"${name}"::text`).join(', ')
      const owner = table.name === 'customers' ? 'id' : 'owner_id'
      const text = `select ${columns} from ${table.name} where ${owner} = $1`
      const { rows } = await client.query({ text, values: [ownerId], rowMode: 'array' })
      if (rows.length > 0) all.push({ ...table, rows })
    }
    return all
  })

const FOLLOWED = `
select not exists (select from deliveries where status = 'pending')
  and not exists (select from events where written_in >= (select written_in from spend_position))
  and (select max(written_in) from events) < (select (position ->> 'below')::bigint from delivery_position) as done`

/** Until all that follows a payment is written: its sums and its deliveries. */
const untilFollowed = (stage: Stage): Promise<unknown> =>
  withClient(stage, client =>
    until('sums and deliveries', async () => (await client.query(FOLLOWED)).rows[0].done === true, 60_000),
  )

async function startFollowers(stage: Stage) {
  const { folder, env } = stage
  const receiver = await serve(node('test/bench/receiver.ts'), `${folder}/receiver.log`, {})
  const programs = [
    [node('test/bench/deliverer.ts'), `${folder}/deliverer.log`],
    [node('test/bench/insight/follower.ts'), `${folder}/follower.log`],
  ] as const
  const followers = await Promise.all(
    programs.map(([command, log]) => start({ command, log, env }, /is running\./)),
  )
  const stop = () => Promise.all([...followers, receiver].map(one => one.stop()))
  return { url: receiver.url, stop }
}

const SUBSCRIBED = ['transaction.completed', 'transfer.completed', 'intent.approved', 'intent.cancelled']

/** Makes real payments of one owner with everything that follows from them, and reads what that has written. */
export async function makeTemplate(stage: Stage): Promise<Template> {
  const { ownerId, token } = await newOwner(stage.api, 1)
  const theirs = { ...stage, ownerId, token }
  const ask = (path: string, body: object) => post(stage.api, path, body, bearer({ token }))
  const followers = await startFollowers(stage)
  await ask('/webhooks', { url: `${followers.url}/`, events: SUBSCRIBED })
  const account = await openAccount(theirs)
  const pay = payer(theirs, account)
  for (const kind of kinds) await pay(kind)
  await untilFollowed(stage)
  const before = await readRows(stage, ownerId)
  await ask(`/wallets/${account.from}/fund`, { amountEuros: FUNDED_EUROS })
  await ask(`/agents/${account.agentId}/fund`, { amountEuros: OF_AGENT_EUROS, fromWalletId: account.from })
  for (let ten = 0; ten < TENS; ten++)
    for (const kind of kinds) for (let n = 0; n < IN_TEN[kind]; n++) await pay(kind)
  await untilFollowed(stage)
  const after = await readRows(stage, ownerId)
  await followers.stop()
  return { ownerId, token, account, before, after }
}

type Kind = keyof typeof IN_TEN
const kinds = Object.keys(IN_TEN) as Kind[]

function payer(stage: Pick<Stage, 'api' | 'token'>, account: Account): (kind: Kind) => Promise<unknown> {
  const flows = new Map(openFlows(stage, account).map(flow => [flow.name, flow]))
  const run = (name: string) => flows.get(name)?.run() as Promise<{ readonly id?: string }>
  return async kind => {
    if (kind !== 'cancelled') return run(kind)
    const { id } = await run('approved')
    return post(stage.api, `/intents/${id}/cancel`, {}, bearer(stage))
  }
}
