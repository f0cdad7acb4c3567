import { z } from 'zod'
import { area } from '../../src/kernel/contract/area.ts'
import { CallExternal, type LockLanes } from '../../src/kernel/contract/handlers.ts'
import {
  bindHandlers,
  type ContextOf,
  type InputOf,
  notFound,
  post,
} from '../../src/kernel/contract/operation.ts'
import type { Sql } from '../../src/kernel/contract/sql.ts'
import { id, newId } from '../../src/values/ids.ts'

/** A test noun with one hot operation and one that calls an external system, both minimal. */
export const SAMPLE_TABLES = `
create table samples (
  id text primary key,
  owner_id text not null,
  mode text not null,
  balance bigint not null check (balance >= 0)
);
create table withdrawals (
  id text primary key,
  owner_id text not null,
  mode text not null,
  sample_id text not null references samples (id),
  amount bigint not null check (amount <> 13)
);
create table inquiries (id text primary key, sample_id text not null, state text not null);`

const Withdrawn = z.object({ sampleId: id('sample'), amount: z.int() })

export const sampleApi = {
  withdraw: post('/samples/{id}/withdraw', {
    summary: 'Withdraw from a sample',
    callers: ['key'],
    scope: 'policies:write',
    run: 'hot',
    body: z.strictObject({ amount: z.int().min(1) }),
    example: { amount: 1 },
    returns: [
      201,
      z.object({ id: id('withdrawal'), sampleId: id('sample'), amount: z.int(), left: z.int() }),
    ],
    fails: { sample_not_found: notFound('sample'), sample_empty: [400, 'The balance is too low.'] },
    emits: { 'sample.withdrawn': Withdrawn },
  }),
  inquire: post('/samples/{id}/inquire', {
    summary: 'Ask an external system about a sample',
    callers: ['key'],
    scope: 'policies:write',
    run: 'external',
    returns: [200, z.object({ id: id('inquiry'), answer: z.string() })],
    fails: { sample_not_found: notFound('sample') },
    emits: { 'sample.inquired': Withdrawn.pick({ sampleId: true }) },
  }),
}

interface SampleState {
  readonly balances: Map<string, bigint>
  readonly withdrawals: { id: string; ownerId: string; mode: string; sampleId: string; amount: number }[]
}

const LOAD = `select id, balance from samples
  where owner_id = $1 and mode = $2 and id = any($3::text[]) order by id for update`

/**
 * `any($1)` repeats the ids: PostgreSQL cannot tell that the join with `unnest` is short, and would read all
 * samples.
 */
const WRITE = `
with changed as (
  update samples set balance = new.balance
  from unnest($1::text[], $2::bigint[]) as new(id, balance)
  where samples.id = new.id and samples.id = any($1)
)
insert into withdrawals (id, owner_id, mode, sample_id, amount)
select * from unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[])`

async function write({ balances, withdrawals }: SampleState, sql: Sql): Promise<void> {
  const column = (name: keyof SampleState['withdrawals'][number]) =>
    withdrawals.map(withdrawal => withdrawal[name])
  await sql(WRITE, [
    [...balances.keys()],
    [...balances.values()],
    ...(['id', 'ownerId', 'mode', 'sampleId', 'amount'] as const).map(column),
  ])
}

/**
 * The external system that `inquire` calls; a test may make it slow, wrong or unreachable. If it answers `ask
 * again`, it is called once more.
 */
export type ExternalSystem = (inquiryId: string, round: number) => Promise<string>

export const sampleArea = (
  callSystem: ExternalSystem,
  lanes: LockLanes<InputOf<typeof sampleApi.withdraw>> | null = null,
) =>
  area(
    'Samples',
    'Records of the tests.',
    bindHandlers(sampleApi, {
      withdraw: {
        lanes,
        async load(items, sql): Promise<SampleState> {
          const tenant = items[0]?.tenant
          const ids = [...new Set(items.map(({ input }) => input.params.id))]
          const rows = await sql<{ id: string; balance: bigint }>(LOAD, [tenant?.ownerId, tenant?.mode, ids])
          return { balances: new Map(rows.map(row => [row.id, row.balance])), withdrawals: [] }
        },
        decide({ input, tenant }, { balances, withdrawals }: SampleState, { emit, refuse }) {
          const sampleId = input.params.id
          const { amount } = input.body
          const balance = balances.get(sampleId)
          if (balance === undefined) return refuse('sample_not_found')
          if (balance < BigInt(amount)) return refuse('sample_empty')
          balances.set(sampleId, balance - BigInt(amount))
          const withdrawal = { id: newId('withdrawal'), ...tenant, sampleId, amount }
          withdrawals.push(withdrawal)
          emit('sample.withdrawn', { sampleId, amount })
          return { ...withdrawal, left: Number(balance) - amount }
        },
        write,
      },
      inquire: {
        async reserve({ params }, { sql, refuse }) {
          const [sample] = await sql('select id from samples where id = $1', [params.id])
          if (!sample) return refuse('sample_not_found')
          const inquiryId = newId('inquiry')
          await sql('insert into inquiries values ($1, $2, $3)', [inquiryId, params.id, 'reserved'])
          return { inquiryId, sampleId: params.id, round: 1 }
        },
        call: ({ inquiryId, round }: Reserved) => callSystem(inquiryId, round),
        record: (answer: string, reservation: Reserved, context) =>
          answer === 'ask again'
            ? askAgain(reservation, context)
            : recordAnswer(reservation, answer, context),
        recover: (reservation: Reserved, context) => recordAnswer(reservation, lost(reservation), context),
      },
    }),
  )

interface Reserved {
  readonly inquiryId: string
  readonly sampleId: string
  readonly round: number
}

type InquiryContext = ContextOf<typeof sampleApi.inquire>

const lost = ({ round }: Reserved): string => (round === 1 ? 'unknown' : `unknown after call ${round}`)

async function askAgain(
  { inquiryId, sampleId, round }: Reserved,
  { sql, emit }: InquiryContext,
): Promise<CallExternal<Reserved>> {
  await sql('update inquiries set state = $1 where id = $2', [`answered ${round}`, inquiryId])
  emit('sample.inquired', { sampleId })
  return new CallExternal({ inquiryId, sampleId, round: round + 1 })
}

async function recordAnswer(
  { inquiryId, sampleId }: Reserved,
  answer: string,
  { sql, emit }: InquiryContext,
): Promise<{ id: string; answer: string }> {
  await sql('update inquiries set state = $1 where id = $2', [answer, inquiryId])
  emit('sample.inquired', { sampleId })
  return { id: inquiryId, answer }
}
