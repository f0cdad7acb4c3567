import { expect, test } from '@jest/globals'
import { z } from 'zod'
import { area } from '../../../src/kernel/contract/area.ts'
import { HotCall } from '../../../src/kernel/contract/handlers.ts'
import { bindHandlers, get } from '../../../src/kernel/contract/operation.ts'
import { startEngine } from '../../support/engine.ts'

const Sold = z.object({ sold: z.boolean() })
let calls = 0

const offersArea = area(
  'Offers',
  'A GET of a test that pays whatever the headers say.',
  bindHandlers(
    {
      take: get('/offers/{id}', {
        summary: 'Take an offer',
        callers: ['public'],
        run: 'hot-external',
        returns: [200, Sold],
        emits: { 'offer.taken': Sold },
      }),
    },
    {
      take: {
        begin: {
          by: 'reading',
          read: async () => new HotCall({}, async () => ++calls),
        },
        record: async () => ({ sold: true }),
        recover: async () => ({ sold: true }),
      },
    },
  ),
)

const engine = await startEngine({ offers: offersArea })

test('HEAD calls no other system, also where no header has to pay', async () => {
  const tenant = { ownerId: 'customer_1', mode: 'test' } as const
  const take = (isHead: boolean) =>
    engine.run(tenant, 'offers.take', { params: { id: 'offer_1' } }, { isHead })
  await expect(take(true)).rejects.toThrow('calls another system')
  expect(calls).toBe(0)
  expect((await take(false)).status).toBe(200)
  expect(calls).toBe(1)
})
