import { beforeEach, describe, expect, test } from '@jest/globals'
import { areas } from '../../../../src/areas.ts'
import { area, reactionToAll } from '../../../../src/kernel/contract/area.ts'
import type { HotHandler } from '../../../../src/kernel/contract/handlers.ts'
import { implement } from '../../../../src/kernel/contract/operation.ts'
import { newId } from '../../../../src/values/ids.ts'
import { startEngine } from '../../../support/engine.ts'
import { SAMPLE_TABLES, sampleApi, sampleArea } from '../../../support/sample-noun.ts'
import { times } from '../../../support/sample-service.ts'

const tenant = { ownerId: 'customer_1', mode: 'test' } as const
const samples = sampleArea(async () => 'confirmed')
const withdrawHandler = samples.handlers.withdraw as HotHandler<never, never, never, never>

/** What is done after each commit; a test sets it. */
let afterCommit: (() => Promise<void>) | undefined
const reactedTo: unknown[] = []

const engine = await startEngine(
  {
    ...areas,
    samples: {
      ...samples,
      handlers: {
        ...samples.handlers,
        withdraw: { ...withdrawHandler, afterCommit: () => afterCommit?.() },
      },
    },
    others: area('Others', 'It responds to a few withdrawals only.', implement({}, {}), {
      reactions: {
        'sample.withdrawn': {
          ...reactionToAll(sampleApi.withdraw.emits['sample.withdrawn'], {}, async events => {
            reactedTo.push(...events)
          }),
          concerns: ({ amount }) => amount === 7,
        },
      },
    }),
  },
  SAMPLE_TABLES,
)

beforeEach(() => {
  afterCommit = undefined
  reactedTo.splice(0)
})

async function aSample(): Promise<string> {
  const id = newId('sample')
  await engine.sql('insert into samples values ($1, $2, $3, 100)', [id, tenant.ownerId, tenant.mode])
  return id
}

const withdraw = async (id: string, body: object = {}): Promise<number> =>
  (await engine.run(tenant, 'samples.withdraw', { params: { id }, body: { amount: 1, ...body } })).status

async function withdrawnFrom(id: string): Promise<number> {
  const { rows } = await engine.sql('select from withdrawals where sample_id = $1', [id])
  return rows.length
}

describe('what a batch leaves for after its commit', () => {
  test('is done once for the batch, when its rows can be seen, and before its answers', async () => {
    const id = await aSample()
    const seen: number[] = []
    afterCommit = async () => void seen.push(await withdrawnFrom(id))
    expect(await times(5, () => withdraw(id))).toEqual(Array(5).fill(201))
    expect(seen).toEqual([5])
  })

  test('may fail, and what is committed is answered', async () => {
    const id = await aSample()
    afterCommit = async () => {
      throw new Error('another owner cannot be reached')
    }
    expect([await withdraw(id), await withdrawnFrom(id)]).toEqual([201, 1])
  })

  test('holds up no later batch', async () => {
    const id = await aSample()
    const { promise, resolve } = Promise.withResolvers<void>()
    afterCommit = () => promise
    const slow = withdraw(id)
    while ((await withdrawnFrom(id)) === 0);
    afterCommit = undefined
    expect(await times(3, () => withdraw(id))).toEqual([201, 201, 201])
    resolve()
    expect(await slow).toBe(201)
  })
})

test('a reaction that concerns few events of a name is not run for the others', async () => {
  const id = await aSample()
  await withdraw(id)
  expect(reactedTo).toEqual([])
  await times(3, index => withdraw(id, { amount: index === 1 ? 7 : 1 }))
  expect(reactedTo).toEqual([{ sampleId: id, amount: 7 }])
})
