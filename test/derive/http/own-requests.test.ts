import { describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import { areas } from '../../../src/areas.ts'
import { area } from '../../../src/kernel/contract/area.ts'
import { bindHandlers, get, notFound, post } from '../../../src/kernel/contract/operation.ts'
import { startTestService } from '../../support/harness.ts'

const LIMIT = 5

/** Pays a resource of the same process, as test mode allows. */
const own = area(
  'Own',
  'Requests of the service to itself.',
  bindHandlers(
    {
      sell: get('/collect/402/{id}/own', {
        summary: 'Sell',
        callers: ['public'],
        returns: [200, z.object({ sold: z.boolean() })],
        fails: { thing_not_found: notFound('thing') },
      }),
      buy: post('/own/buy', {
        summary: 'Buy five times',
        callers: ['public'],
        run: 'external',
        body: z.strictObject({ header: z.string().max(40) }),
        returns: [200, z.object({ statuses: z.array(z.int()) })],
      }),
    },
    {
      sell: () => ({ sold: true }),
      buy: {
        reserve: async ({ body }, { service }) => ({
          ...body,
          url: `${service.publicUrl()}/collect/402/a/own`,
        }),
        async call(reserved, { systems }) {
          const { url, header } = reserved as { url: string; header: string }
          const send = () =>
            systems.outbound.send({
              url,
              method: 'GET',
              headers: header ? { 'x-own-request': header } : {},
              timeoutMs: 60_000,
              maxBytes: 100,
              ownListener: true,
            })
          const answers = await Promise.all(Array.from({ length: 2 * LIMIT }, send))
          return answers.map(answer => (answer.kind === 'answered' ? answer.status : 0))
        },
        record: async statuses => ({ statuses: statuses as number[] }),
        recover: async () => ({ statuses: [] }),
      },
    },
  ),
)

const service = await startTestService({
  areas: { ...areas, own },
  env: { RATE_LIMIT_PER_MINUTE: String(LIMIT) },
})

const SOLD = Array.from({ length: 2 * LIMIT }, () => 200)

describe('a request of the service to itself', () => {
  test.each(['', 'made up'])('is not counted: what caused it has been, with the header %j', async header => {
    const { status, body } = await service.http('POST', '/own/buy', { body: { header } })
    expect([status, body?.statuses]).toEqual([200, SOLD])
  })

  test('cannot be forged', async () => {
    const headers = { 'x-own-request': '00000000-0000-4000-8000-000000000000' }
    const statuses: number[] = []
    for (let n = 0; n <= LIMIT; n++)
      statuses.push((await service.http('GET', '/collect/402/a/own', { headers })).status)
    expect(statuses.at(-1)).toBe(429)
  })
})
