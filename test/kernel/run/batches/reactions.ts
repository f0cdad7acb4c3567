import { beforeEach, expect, test } from '@jest/globals'
import { areas } from '../../../../src/areas.ts'
import { area, reactionToAll } from '../../../../src/kernel/contract/area.ts'
import { bindHandlers } from '../../../../src/kernel/contract/operation.ts'
import { newId } from '../../../../src/values/ids.ts'
import { times } from '../../../support/at-once.ts'
import { startEngine } from '../../../support/engine.ts'
import { SAMPLE_TABLES, sampleApi, sampleArea } from '../../../support/sample-noun.ts'

const tenant = { ownerId: 'customer_1', mode: 'test' } as const
const reactedTo: unknown[] = []

const engine = await startEngine(
  {
    ...areas,
    samples: sampleArea(async () => 'confirmed'),
    others: area('Others', 'It responds to a few withdrawals only.', bindHandlers({}, {}), {
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

beforeEach(() => void reactedTo.splice(0))

async function aSample(): Promise<string> {
  const id = newId('sample')
  await engine.sql('insert into samples values ($1, $2, $3, 100)', [id, tenant.ownerId, tenant.mode])
  return id
}

const withdraw = async (id: string, body: object = {}): Promise<number> =>
  (await engine.run(tenant, 'samples.withdraw', { params: { id }, body: { amount: 1, ...body } })).status

test('a reaction that concerns few events of a name is not run for the others', async () => {
  const id = await aSample()
  await withdraw(id)
  expect(reactedTo).toEqual([])
  await times(3, index => withdraw(id, { amount: index === 1 ? 7 : 1 }))
  expect(reactedTo).toEqual([{ sampleId: id, amount: 7 }])
})
