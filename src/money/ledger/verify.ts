import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import type { Euros } from '../../values/money.ts'

interface Claimed extends Row {
  readonly id: string
  readonly currency: string
  readonly posted: Euros
  readonly held: Euros
  readonly version: bigint
  /** What is left of the open holds on it. */
  readonly holds: Euros
}

/** One snapshot of all accounts; entries are only ever added, so what it claims can be checked afterwards at leisure. */
const CLAIMED = `
select a.id, a.currency, a.posted_cents as posted, a.held_cents as held, a.version, coalesce(h.left, 0)::bigint as holds
from ledger_accounts a
left join (select account_id, sum(remaining_cents) as left from ledger_holds
  where owner_id = $1 and mode = $2 and ended_at is null group by account_id) as h on h.account_id = a.id
where a.owner_id = $1 and a.mode = $2 order by a.id`

/** So many entries are read at once: no statement takes long, and nobody is locked. */
const SLICE = 50_000n

interface Part {
  readonly id: string
  readonly first: bigint
  readonly last: bigint
}

interface Read extends Row {
  readonly id: string
  readonly entries: bigint
  readonly gaps: bigint
  /** What stood before the part; every entry of it must say the same. */
  readonly before: Euros
  readonly heldBefore: Euros
  readonly breaks: bigint
  readonly sum: Euros
  readonly heldSum: Euros
}

const READ = `
with read as (
  select e.account_id as id, e.version, e.amount_cents, e.hold_cents,
    row_number() over sofar + p.first - 1 as expected,
    e.balance_after_cents - sum(e.amount_cents) over sofar as before,
    e.held_after_cents - sum(e.hold_cents) over sofar as held_before
  from unnest($1::text[], $2::bigint[], $3::bigint[]) as p (id, first, last)
  join ledger_entries e on e.account_id = p.id and e.version between p.first and p.last
  window sofar as (partition by e.account_id order by e.version)
)
select id, count(*) as entries, count(*) filter (where version <> expected) as gaps,
  min(before)::bigint as before, min(held_before)::bigint as "heldBefore",
  (max(before) - min(before) + max(held_before) - min(held_before))::bigint as breaks,
  sum(amount_cents)::bigint as sum, sum(hold_cents)::bigint as "heldSum"
from read group by id`

/** The entries of all accounts, cut so that each slice has about the same work. */
function* slicesOf(accounts: readonly Claimed[]): Generator<Part[]> {
  let slice: Part[] = []
  let room = SLICE
  for (const { id, version } of accounts)
    for (let first = 1n; first <= version; ) {
      const last = version - first < room ? version : first + room - 1n
      slice.push({ id, first, last })
      room -= last - first + 1n
      first = last + 1n
      if (room > 0n) continue
      yield slice
      slice = []
      room = SLICE
    }
  if (slice.length > 0) yield slice
}

export interface Verification {
  readonly accounts: number
  readonly entries: bigint
  readonly sums: ReadonlyMap<string, Euros>
  readonly problems: readonly string[]
}

interface Reached {
  readonly posted: Euros
  readonly held: Euros
  readonly entries: bigint
}

const NOTHING: Reached = { posted: 0n, held: 0n, entries: 0n }

/** Every account against its entries, and all of them against zero. */
export async function verify(sql: Sql, { ownerId, mode }: Tenant): Promise<Verification> {
  const accounts = await sql<Claimed>(CLAIMED, [ownerId, mode])
  const problems: string[] = []
  const reached = await readThrough(sql, accounts, problems)
  const sums = new Map<string, Euros>()
  let entries = 0n
  for (const account of accounts) {
    const so = reached.get(account.id) ?? NOTHING
    problems.push(...complaintsAbout(account, so))
    entries += so.entries
    sums.set(account.currency, (sums.get(account.currency) ?? 0n) + so.posted)
  }
  for (const [currency, sum] of sums)
    if (sum !== 0n) problems.push(`The entries in ${currency} do not sum to zero.`)
  return { accounts: accounts.length, entries, sums, problems }
}

/** What the entries of each account come to; where they do not follow each other is among the problems. */
async function readThrough(sql: Sql, accounts: readonly Claimed[], problems: string[]) {
  const reached = new Map<string, Reached>()
  for await (const part of partsOf(sql, accounts)) {
    const so = reached.get(part.id) ?? NOTHING
    if (part.gaps > 0n || part.breaks > 0n || part.before !== so.posted || part.heldBefore !== so.held)
      problems.push(`${part.id}: its entries do not follow each other without a gap.`)
    reached.set(part.id, {
      posted: so.posted + part.sum,
      held: so.held + part.heldSum,
      entries: so.entries + part.entries,
    })
  }
  return reached
}

async function* partsOf(sql: Sql, accounts: readonly Claimed[]): AsyncGenerator<Read> {
  for (const slice of slicesOf(accounts))
    yield* await sql<Read>(READ, [
      slice.map(({ id }) => id),
      slice.map(({ first }) => first),
      slice.map(({ last }) => last),
    ])
}

function* complaintsAbout({ id, version, posted, held, holds }: Claimed, so: Reached): Generator<string> {
  if (so.entries !== version) yield `${id}: it has ${so.entries} entries and counts ${version}.`
  if (so.posted !== posted) yield `${id}: its balance is not the sum of its entries.`
  if (so.held !== held || holds !== held) yield `${id}: what is held is not the sum of its open holds.`
}
