import { z } from 'zod'
import { area } from '../../src/kernel/contract/area.ts'
import { type ContextOf, implement, missing, post } from '../../src/kernel/contract/operation.ts'
import type { Sql } from '../../src/kernel/contract/sql.ts'
import { id, newId } from '../../src/values/ids.ts'

/** An area that only the tests have: a hot operation and an outside one, as small as they can be. */
export const POT_TABLES = `
create table pots (
  id text primary key,
  owner_id text not null,
  mode text not null,
  left_over bigint not null check (left_over >= 0),
  lid text unique
);
create table takings (
  id text primary key,
  owner_id text not null,
  mode text not null,
  pot_id text not null references pots (id),
  amount bigint not null check (amount <> 13)
);
create table rings (id text primary key, pot_id text not null, state text not null);`

const Taken = z.object({ potId: id('pot'), amount: z.int() })

export const potsApi = {
  take: post('/pots/{id}/take', {
    summary: 'Take from a pot',
    callers: ['key'],
    scope: 'policies:write',
    run: 'hot',
    body: z.strictObject({ amount: z.int().min(1) }),
    example: { amount: 1 },
    returns: [201, z.object({ id: id('taking'), potId: id('pot'), amount: z.int(), left: z.int() })],
    fails: { pot_not_found: missing('pot'), pot_empty: [400, 'There is not enough in the pot.'] },
    emits: { 'pot.taken': Taken },
  }),
  ring: post('/pots/{id}/ring', {
    summary: 'Ask the world about a pot',
    callers: ['key'],
    scope: 'policies:write',
    run: 'outside',
    returns: [200, z.object({ id: id('ring'), answer: z.string() })],
    fails: { pot_not_found: missing('pot') },
    emits: { 'pot.rung': Taken.pick({ potId: true }) },
  }),
}

interface Pots {
  readonly left: Map<string, bigint>
  readonly takings: { id: string; ownerId: string; mode: string; potId: string; amount: number }[]
}

const LOAD = `select id, left_over from pots
  where owner_id = $1 and mode = $2 and id = any($3::text[]) order by id for update`

/** The ids once more by themselves: of a join with `unnest` PostgreSQL does not know that it is short, and reads all pots. */
const WRITE = `
with changed as (
  update pots set left_over = new.left_over
  from unnest($1::text[], $2::bigint[]) as new(id, left_over)
  where pots.id = new.id and pots.id = any($1)
)
insert into takings (id, owner_id, mode, pot_id, amount)
select * from unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[])`

async function write({ left, takings }: Pots, sql: Sql): Promise<void> {
  const column = (name: keyof Pots['takings'][number]) => takings.map(taking => taking[name])
  await sql(WRITE, [
    [...left.keys()],
    [...left.values()],
    ...(['id', 'ownerId', 'mode', 'potId', 'amount'] as const).map(column),
  ])
}

/** What the outside says when it is asked; a test may make it slow, wrong or dead. */
export type Bell = (ringId: string) => Promise<string>

export const potsArea = (bell: Bell) =>
  area(
    'Pots',
    'Something to take from.',
    implement(potsApi, {
      take: {
        async load(items, sql): Promise<Pots> {
          const tenant = items[0]?.tenant
          const ids = [...new Set(items.map(({ input }) => input.params.id))]
          const rows = await sql<{ id: string; left_over: bigint }>(LOAD, [
            tenant?.ownerId,
            tenant?.mode,
            ids,
          ])
          return { left: new Map(rows.map(row => [row.id, row.left_over])), takings: [] }
        },
        decide({ input, tenant }, { left, takings }: Pots, { emit, refuse }) {
          const potId = input.params.id
          const { amount } = input.body
          const there = left.get(potId)
          if (there === undefined) return refuse('pot_not_found')
          if (there < BigInt(amount)) return refuse('pot_empty')
          left.set(potId, there - BigInt(amount))
          const taking = { id: newId('taking'), ...tenant, potId, amount }
          takings.push(taking)
          emit('pot.taken', { potId, amount })
          return { ...taking, left: Number(there) - amount }
        },
        write,
      },
      ring: {
        async reserve({ params }, { em, refuse }) {
          const [pot] = await em.execute('select id from pots where id = ?', [params.id])
          if (!pot) return refuse('pot_not_found')
          const ringId = newId('ring')
          await em.execute('insert into rings values (?, ?, ?)', [ringId, params.id, 'asked'])
          return { ringId, potId: params.id }
        },
        call: ({ ringId }: Reserved) => bell(ringId),
        record: (answer: string, reservation: Reserved, context) => answered(reservation, answer, context),
        recover: (reservation: Reserved, context) => answered(reservation, 'unknown', context),
      },
    }),
  )

interface Reserved {
  readonly ringId: string
  readonly potId: string
}

async function answered(
  { ringId, potId }: Reserved,
  answer: string,
  { em, emit }: ContextOf<typeof potsApi.ring>,
): Promise<{ id: string; answer: string }> {
  await em.execute('update rings set state = ? where id = ?', [answer, ringId])
  emit('pot.rung', { potId })
  return { id: ringId, answer }
}
