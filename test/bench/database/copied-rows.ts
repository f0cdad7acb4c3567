import type pg from 'pg'

/** The past of an owner, copied row by row from a few records that were created through the API. */

export const DAYS = 90
/** Records per statement. */
const PART = 25_000
/** New entries of accounts are numbered after those of the past. */
const SHIFT = 'select coalesce(max(version), 0) + 40000000 as shift from ledger_entries'

/** Ids with the time of their records: it replaces the time part of the copied id. */
export const past = (column: string): string =>
  `split_part(p.${column}, '_', 1) || '_' || moment || right(p.${column}, 16)`
export const ago = (...columns: string[]): Record<string, string> =>
  Object.fromEntries(columns.map(column => [column, `p.${column} - age`]))
/** The summary of a decision, with the id of the copied one. */
export const DECISION = `jsonb_set(p.decision, '{id}', to_jsonb(${past("decision ->> 'id'")}))`
export const AGENT = `'agent_bench_' || agent`
export const ofRecord = { id: past('id'), ...ago('created_at', 'updated_at') }
/** A random value, as a request id is in production. */
export const REQUEST = 'md5(p.request_id || n)::uuid::text'
export const numberIn = (column: string): string => `substring(${column} from '\\d+$')::int`

/** The agent of a posting: the number of the agent whose account it moves. */
export const ofPosting = (id: string): string => `(select ${numberIn('e.account_id')} from ledger_entries e
  where e.transfer_id = ${id} and e.account_id like 'account_bench_%' and e.account_id <> 'account_bench_bank'
    and e.transfer_id <> 'posting_bench_fund')`

/** The account and the version of a copied entry. */
export const pastAccount = (account: string): string =>
  `case when ${account} ~ '^account_bench_\\d+$' then 'account_bench_' || agent else ${account} end`
export const pastVersion = (version: string): string => `n * 32 + ${version}`
export const PAST_ENTRIES = {
  entry_accounts: `array(select ${pastAccount('a')} from unnest(p.entry_accounts) as a)`,
  entry_versions: `array(select ${pastVersion('v')} from unnest(p.entry_versions) as v)`,
}

export interface Copied {
  /** SQL for the outcome to which a row belongs. */
  readonly of: string
  /** The columns that differ from the copied row. */
  readonly but: Readonly<Record<string, string>>
}

export interface Fates {
  readonly agents: Readonly<Record<string, number>>
  readonly shares: Readonly<Record<string, number>>
}

/** The past records: their outcome, agent, run and age, and the time prefix of their ids. */
function pastTable({ agents, shares }: Fates, agent: string, run: string): string {
  const fates = Object.entries(shares).flatMap(([fate, share]) => Array(share).fill(agents[fate]))
  return `
create temp table past as
select n, (array[${fates}])[1 + (hashint4(n) & 65535) % ${fates.length}] as fate, agent, age,
  ${run} as run, 'Bookshop ' || (hashint4(n) & 65535) % 5000 as merchant,
  (select string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', 1 + ((at >> 45 - 5 * digit) % 32)::int, 1), '' order by digit)
    from generate_series(0, 9) as digit, (select (extract(epoch from now() - age) * 1000)::bigint as at)) as moment
from generate_series(1, $1::int) as n
cross join lateral (select interval '${DAYS} days' * (1 - n::float8 / ($1::int + 1)) as age, ${agent} as agent)`
}

async function columnsOf(client: pg.Client, table: string): Promise<string[]> {
  const { rows } = await client.query(
    `select column_name as name from information_schema.columns where table_schema = 'public' and table_name = $1
       and is_generated = 'NEVER'`,
    [table],
  )
  return rows.map(({ name }) => name)
}

/** Copies the source rows into a temporary table; returns the statement that copies them. */
async function copying(
  client: pg.Client,
  { agents }: Fates,
  [table, { of, but }]: [string, Copied],
): Promise<string> {
  const fated = `${of} = any(array[${Object.values(agents)}])`
  await client.query(
    `create temp table one_${table} as select *, ${of} as fate from ${table} t where ${fated}`,
  )
  const columns = await columnsOf(client, table)
  return `insert into ${table} (${columns.join(', ')})
    select ${columns.map(column => but[column] ?? `p.${column}`).join(', ')}
    from past join one_${table} p using (fate) where n between $1 and $2 order by n`
}

export interface Past {
  readonly fates: Fates
  readonly agent: string
  readonly run: string
  /** The copied tables; all other columns equal those of the copied row. */
  readonly copied: Readonly<Record<string, Copied>>
  /** Statements for rows that grow with the past, but not by one for each record. */
  readonly beside: readonly string[]
}

/** Inserts this many past records with all of their rows. */
export async function copyPast(
  client: pg.Client,
  ownerId: string,
  count: number,
  { fates, agent, run, copied, beside }: Past,
): Promise<void> {
  await client.query('set session_replication_role = replica')
  await client.query('set synchronous_commit = off')
  await client.query(pastTable(fates, agent, run), [count])
  await client.query('create index on past (n)')
  for (const text of beside) await client.query(text, [ownerId])
  const copies: string[] = []
  for (const entry of Object.entries(copied)) copies.push(await copying(client, fates, entry))
  const { rows } = await client.query<{ shift: string }>(SHIFT)
  await client.query(`update ledger_entries set version = version + ${rows[0]?.shift}`)
  await client.query(
    `update ledger_transfers set entry_versions = array(select v + ${rows[0]?.shift} from unnest(entry_versions) as v)`,
  )
  await client.query(`update ledger_accounts set version = version + ${rows[0]?.shift} where version > 0`)
  for (let first = 1; first <= count; first += PART)
    for (const copy of copies) await client.query(copy, [first, first + PART - 1])
  await client.query('checkpoint')
}
