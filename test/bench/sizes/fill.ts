import pg from 'pg'
import { printLine } from '../../../src/platform/output.ts'
import { days } from '../../../src/values/clock.ts'
import { secondsSince } from '../database/sizes.ts'
import { sealAll } from '../deletions/account.ts'
import type { Account } from '../price/flows.ts'
import { wholeNumber } from '../report.ts'
import { type Stage, withClient } from '../stage.ts'
import { copyIn } from './copy-in.ts'
import { type Copy, Multiplier, NUMBERS_OF_OWNER, tokenOf } from './multiply.ts'
import { makeTemplate, PAYMENTS, type Template } from './template.ts'

/** An owner whose payments are measured. */
export interface Payer {
  readonly ownerId: string
  readonly token: string
  readonly account: Account
}

export interface Filled {
  readonly payments: number
  readonly owners: number
  readonly large: Payer
  readonly small: Payer
}

/** Without deliveries and seals, which are a third of the bytes. */
const isBare = process.env.SIZES_BARE === '1'
const DAYS = 90
/** Sets of payments that are written together. */
const AT_ONCE = 25
const CONNECTIONS = 2

/** Events of the last months are in partitions as if the service had run then. */
const PAST_PARTITIONS = `
begin;
create temp table kept as select * from events;
do $$
declare
  part regclass;
begin
  for part in select inhrelid::regclass from pg_inherits where inhparent = 'events'::regclass loop
    execute format('alter table events detach partition %1$s; drop table %1$s', part);
  end loop;
  execute replace(replace(pg_get_functiondef('add_event_partitions'::regproc), 'add_event_partitions', 'add_past_partitions'),
    'clock_timestamp()', $d$(clock_timestamp() - interval '${DAYS + 2} days')$d$);
end $$;
select add_past_partitions();
select add_event_partitions();
drop function add_past_partitions;
set local session_replication_role = replica;
insert into events select * from kept;
drop table kept;
commit`

const QUICK = [
  'alter system set autovacuum = off',
  `alter system set max_wal_size = '8GB'`,
  'select pg_reload_conf()',
]
const USUAL = ['alter system reset autovacuum', 'alter system reset max_wal_size', 'select pg_reload_conf()']

/** The copies have been followed as their originals have been. Who writes next comes after them. */
const FOLLOWED = `
update spend_position set written_in = (select max(written_in) + 1 from events), event_id = '', refund_id = 0;
update delivery_position set position =
  jsonb_build_object('open', '[]'::jsonb, 'below', (select written_in from spend_position));
select continue_journal()`

const NUMBERED = `
select setval('payment_reference_numbers', (select max(number) from payment_references) + ${NUMBERS_OF_OWNER}),
  setval('wallet_numbers', (select max(right(iban, 10)::bigint) from wallets) + ${NUMBERS_OF_OWNER})`

/**
 * Whole payments in the numbers of a year's installation: a tenth of them belong to one owner, and each other owner has
 * as many as a template.
 */
export async function fillWhole(stage: Stage, payments: number): Promise<Filled> {
  await withClient(stage, client => client.query(PAST_PARTITIONS))
  const template = await makeTemplate(stage)
  const owners = Math.round((payments * 0.9) / PAYMENTS)
  const repeats = Math.round((payments * 0.1) / PAYMENTS)
  await writeCopies(stage, template, copiesFor(owners, repeats))
  await withClient(stage, async client => {
    for (const text of [FOLLOWED, NUMBERED, 'vacuum analyze']) await client.query(text)
  })
  if (!isBare) await seal(stage)
  const payer = (owner: number) => payerOf(template, owner, owner === 1 ? 1 : repeats + owner - 1)
  return { payments, owners: owners + 1, large: payer(1), small: payer(2 + Math.floor(owners / 2)) }
}

async function seal(stage: Stage): Promise<void> {
  const began = performance.now()
  await sealAll(stage)
  printLine(`  sealed in ${secondsSince(began).toFixed(0)} s`)
  await withClient(stage, client => client.query('vacuum analyze audit_seals'))
}

/** The sets of the large owner, evenly spread over the days, and one set of each other one. */
function* copiesFor(owners: number, repeats: number): Generator<Copy> {
  const openedMs = -days(DAYS + 1)
  const movedTo = (share: number) => Math.round(-days(DAYS) * (1 - share))
  const lastMovedMs = movedTo((repeats - 0.5) / repeats)
  for (let repeat = 0; repeat < repeats; repeat++) {
    const movedMs = movedTo((repeat + 0.5) / repeats)
    yield { owner: 1, number: repeat + 1, repeat, repeats, openedMs, movedMs, lastMovedMs }
  }
  for (let n = 1; n <= owners; n++) {
    const movedMs = movedTo(((n * 0.618) % 1) * (1 - 1 / DAYS))
    yield {
      owner: n + 1,
      number: repeats + n,
      repeat: 0,
      repeats: 1,
      openedMs,
      movedMs,
      lastMovedMs: movedMs,
    }
  }
}

function payerOf(template: Template, owner: number, number: number): Payer {
  const copy = { owner, number, repeat: 0, repeats: 1, openedMs: -days(DAYS + 1), movedMs: 0, lastMovedMs: 0 }
  const multiplier = new Multiplier(template, 0)
  const renamed = (text: string) => multiplier.renamed(text, copy)
  const account = Object.fromEntries(
    Object.entries(template.account).map(([name, id]) => [name, renamed(id)]),
  ) as unknown as Account
  return { ownerId: renamed(template.ownerId), token: tokenOf(template, owner), account }
}

async function writeCopies(stage: Stage, template: Template, copies: Iterator<Copy>): Promise<void> {
  const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => quickClient(stage)))
  const [first] = clients as [pg.Client]
  for (const text of QUICK) await first.query(text)
  const { rows } = await first.query('select max(written_in)::float8 + 1000 as next from events')
  const multiplier = new Multiplier(template, rows[0].next)
  let writing: Promise<unknown> = Promise.resolve()
  let written = 0
  for (let batch = linesOf(multiplier); ; batch = linesOf(multiplier)) {
    const count = addSome(multiplier, copies, batch)
    await writing
    if (count === 0) break
    writing = writeLines(clients, multiplier, batch)
    written += count
    if (written % 2_000 < AT_ONCE) printLine(`  ${wholeNumber(written * PAYMENTS)} payments`)
  }
  for (const text of USUAL) await first.query(text)
  for (const client of clients) await client.end()
}

async function quickClient({ databaseUrl }: Stage): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query('set session_replication_role = replica; set synchronous_commit = off')
  return client
}

type Lines = ReadonlyMap<string, string[]>

const linesOf = ({ into }: Multiplier): Lines =>
  new Map([...into.keys()].filter(name => !isBare || name !== 'deliveries').map(name => [name, []]))

function addSome(multiplier: Multiplier, copies: Iterator<Copy>, lines: Lines): number {
  let count = 0
  for (let next = copies.next(); !next.done; next = copies.next()) {
    multiplier.add(next.value, lines)
    if (++count === AT_ONCE) break
  }
  return count
}

/** Writes each table on one of the connections, the longest first. */
async function writeLines(clients: readonly pg.Client[], { into }: Multiplier, lines: Lines): Promise<void> {
  const waiting = [...lines]
    .filter(([, all]) => all.length > 0)
    .toSorted(([, a], [, b]) => a.length - b.length)
  const write = async (client: pg.Client): Promise<void> => {
    for (let next = waiting.pop(); next; next = waiting.pop())
      await copyIn(client, into.get(next[0]) ?? '', next[1])
  }
  await Promise.all(clients.map(write))
}
