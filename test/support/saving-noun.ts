import { z } from 'zod'
import { area } from '../../src/kernel/contract/area.ts'
import { type BatchedStep, HotCall, recordInBatch } from '../../src/kernel/contract/handlers.ts'
import {
  bindHandlers,
  type HandlerOf,
  type InputOf,
  notFound,
  post,
} from '../../src/kernel/contract/operation.ts'
import { id } from '../../src/values/ids.ts'

/** A test noun whose only operation calls an external system and takes its steps in batches. */
export const SAVING_TABLES =
  'create table savings (id text primary key, owner_id text not null, mode text not null, balance bigint not null)'

const Saved = z.object({ savingId: id('saving'), amount: z.int() })

export const savingApi = {
  save: post('/savings/{id}/save', {
    summary: 'Put money aside',
    callers: ['key'],
    scope: 'policies:write',
    run: 'hot-external',
    body: z.strictObject({ amount: z.int().min(1) }),
    example: { amount: 1 },
    returns: [200, z.object({ savingId: id('saving'), balance: z.int(), by: z.string() })],
    fails: { saving_not_found: notFound('saving'), call_lost: [503, 'The answer was lost.'] },
    emits: { 'saving.saved': Saved, 'saving.missed': Saved },
  }),
}

type Input = InputOf<typeof savingApi.save>
type Events = (typeof savingApi.save)['emits']
type Failure = 'saving_not_found' | 'call_lost'

interface Reserved {
  readonly savingId: string
  readonly amount: number
}

type Balances = Map<string, bigint>

const rowsOf = (lock: string) => `
select id, balance from savings where owner_id = $1 and mode = $2 and id = any($3::text[]) order by id ${lock}`

interface Answered extends Reserved {
  readonly answer: string
}

const record: BatchedStep<
  Answered,
  { savingId: string; balance: number; by: string },
  Failure,
  Events,
  Balances
> = {
  name: 'record',
  lanes: null,
  async load(items, sql) {
    const tenant = items[0]?.tenant
    const ids = items.map(({ input }) => input.savingId)
    const rows = await sql<{ id: string; balance: bigint }>(rowsOf('for update'), [
      tenant?.ownerId,
      tenant?.mode,
      ids,
    ])
    return new Map(rows.map(row => [row.id, row.balance]))
  },
  decide({ input: { savingId, amount } }, balances, { emit }) {
    const balance = (balances.get(savingId) ?? 0n) + BigInt(amount)
    balances.set(savingId, balance)
    emit('saving.saved', { savingId, amount })
    return { savingId, balance: Number(balance), by: 'the batch' }
  },
  async write(balances, sql) {
    await sql(
      'update savings s set balance = w.balance from unnest($1::text[], $2::bigint[]) as w (id, balance) where s.id = w.id',
      [[...balances.keys()], [...balances.values()]],
    )
  },
}

/** Reads the existing savings. A missing one is an event, which only a transaction can write. */
const reserveStep = (
  callSystem: (savingId: string) => Promise<string>,
): BatchedStep<Input, HotCall<Reserved, string>, Failure, Events, Balances> => ({
  name: 'reserve',
  lanes: null,
  async load(items, sql) {
    const tenant = items[0]?.tenant
    const ids = items.map(({ input }) => input.params.id)
    const rows = await sql<{ id: string; balance: bigint }>(rowsOf(''), [tenant?.ownerId, tenant?.mode, ids])
    return new Map(rows.map(row => [row.id, row.balance]))
  },
  decide({ input: { params, body } }, balances, { refuse, emit }) {
    const reserved = { savingId: params.id, amount: body.amount }
    if (balances.has(params.id))
      return new HotCall(reserved, async () => {
        const answer = await callSystem(params.id)
        return answer === 'alone' ? answer : recordInBatch(record, { ...reserved, answer })
      })
    emit('saving.missed', reserved)
    return refuse('saving_not_found')
  },
  write: async () => undefined,
})

export const savingArea = (callSystem: (savingId: string) => Promise<string>) => {
  const save: HandlerOf<typeof savingApi.save, Reserved, string> = {
    begin: { by: 'writing', step: reserveStep(callSystem) },
    async record(_, { savingId, amount }, { sql, emit }) {
      const [row] = await sql<{ balance: bigint }>(
        'update savings set balance = balance + $2 where id = $1 returning balance',
        [savingId, amount],
      )
      emit('saving.saved', { savingId, amount })
      return { savingId, balance: Number(row?.balance), by: 'itself' }
    },
    recover: async (_, { refuse }) => refuse('call_lost'),
  }
  return area('Savings', 'Records of the tests.', bindHandlers(savingApi, { save }))
}
