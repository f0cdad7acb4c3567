import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { z } from 'zod'
import { clock, days, instant } from '../../src/values/clock.ts'
import { aKey, anAgent, aPolicy } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'

const service = await startTestService()
const MONTH = days(30)

const advance = (ownerId: string, offset: number) =>
  service.sql(`insert into tenant_clocks values ($1, 'test', $2)`, [ownerId, offset])

/** Days ahead of real time; adding 0 turns -0 into 0. */
const ahead = (iso: string): number => Math.round((Date.parse(iso) - clock.milliseconds()) / days(1)) + 0

describe('an instant', () => {
  test('survives a round trip to the millisecond', () => {
    const date = fc.date({ min: new Date(0), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true })
    fc.assert(
      fc.property(date, moment => expect(z.decode(instant, z.encode(instant, moment))).toEqual(moment)),
    )
  })

  test.each(['2026-11-20T09:30:00Z', '2026-11-20T09:30:00.000+00:00', '2026-11-20T10:30:00+01:00'])(
    '%s is understood',
    text => expect(z.encode(instant, instant.parse(text))).toBe('2026-11-20T09:30:00.000Z'),
  )

  test.each([
    '2026-11-20',
    '2026-11-20T09:30:00',
    '2026-02-30T00:00:00Z',
    '2026-11-20T24:01:00Z',
    '9999-12-31T23:59:59-12:00',
    '0000-01-01T00:00:00+12:00',
    'tomorrow',
    '',
  ])('%j is refused', text => expect(instant.safeParse(text).success).toBe(false))
})

describe('the clock of a tenant', () => {
  test('affects the owner’s records and nobody else’s', async () => {
    const [owner, stranger] = [await service.owner(), await service.owner()]
    await advance(owner.ownerId, MONTH)
    const [mine, theirs] = [await anAgent(owner.client), await anAgent(stranger.client)]
    expect([ahead(mine.createdAt), ahead(theirs.createdAt)]).toEqual([30, 0])
    const { body } = await owner.client.agents.freeze({ params: { id: mine.id }, body: {} })
    expect(ahead(body.updatedAt)).toBe(30)
    const { body: policy } = await owner.client.policies.assign({
      params: { agentId: mine.id },
      body: { policyId: (await aPolicy(owner.client)).id },
    })
    expect(ahead(String(policy.assignedAt))).toBe(30)
    const [event] = (await owner.client.events.list()).body.data
    expect(ahead(String(event?.createdAt))).toBe(30)
  })

  test('expires no key, since credentials use real time', async () => {
    const owner = await service.owner()
    const inADay = new Date(clock.milliseconds() + days(1)).toISOString()
    const { key } = await aKey(owner.client, { expiresAt: inADay })
    await advance(owner.ownerId, MONTH)
    expect((await service.client(String(key)).agents.list()).status).toBe(200)
  })

  test('cannot be moved in live mode, nor back', async () => {
    const insert = (mode: string, offset: number) =>
      service.sql('insert into tenant_clocks values ($1, $2, $3)', ['customer_1', mode, offset])
    await expect(insert('live', 1)).rejects.toThrow(/check/)
    await expect(insert('test', -1)).rejects.toThrow(/check/)
  })
})
