import { describe, expect, test } from '@jest/globals'
import { APPLICATION } from '../support/compliance/merchants.ts'
import { bodyOf } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'

const service = await startTestService({ own: true })
const { merchantApplications: applications } = service.dash

const eventsOf = (merchantId: string) =>
  service.sql<{ event: string; owner: string; data: object }>(
    `select event, owner_id || ' ' || mode as owner, data from events where data ->> 'merchantId' = $1 order by id`,
    [merchantId],
  )

describe('the application of a merchant', () => {
  test('is approved once of ten at once, and its events belong to the platform', async () => {
    const { id, status } = await bodyOf(applications.create({ body: APPLICATION }))
    expect(status).toBe('submitted')
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => applications.approve({ params: { id } })),
    )
    expect(answers.filter(answer => answer.status === 200)).toHaveLength(1)
    expect(answers.filter(answer => answer.status === 400)).toHaveLength(9)
    expect(await bodyOf(applications.get({ params: { id } }))).toMatchObject({
      ...APPLICATION,
      status: 'approved',
    })
    const events = await eventsOf(id)
    expect(events.map(({ event, owner }) => [event, owner])).toEqual([
      ['merchant_application.submitted', 'customer_house live'],
      ['merchant_application.approved', 'customer_house live'],
    ])
    expect(JSON.stringify(events)).not.toMatch(/grace@|Hopper/)
  })

  test('that is rejected says why, and is decided', async () => {
    const { id } = await bodyOf(applications.create({ body: APPLICATION }))
    const rejected = await bodyOf(applications.reject({ params: { id }, body: { reason: 'Sells weapons.' } }))
    expect([rejected.status, rejected.reason]).toEqual(['rejected', 'Sells weapons.'])
    const again = await applications.approve({ params: { id } })
    expect([again.status, again.headers.get('x-error-code')]).toEqual([400, 'application_decided'])
  })

  test('that is revoked says why, and only once', async () => {
    const { id } = await bodyOf(applications.create({ body: APPLICATION }))
    const revoke = () => applications.revoke({ params: { id }, body: { reason: 'Fraud.' } })
    expect((await revoke()).headers.get('x-error-code')).toBe('application_not_approved')
    await bodyOf(applications.approve({ params: { id } }))
    expect(await bodyOf(revoke())).toMatchObject({ status: 'revoked', reason: 'Fraud.' })
    expect((await revoke()).status).toBe(400)
  })

  test('that is approved and rejected at once is one of both', async () => {
    const { id } = await bodyOf(applications.create({ body: APPLICATION }))
    const params = { id }
    const decide = (n: number) =>
      n % 2 === 0
        ? applications.approve({ params })
        : applications.reject({ params, body: { reason: 'Sells weapons.' } })
    const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => decide(n)))
    expect(answers.filter(answer => answer.status === 200)).toHaveLength(1)
  })
})

test.each([
  ['/mcc-groups', 'GET /merchants/mcc'],
  ['/v1/analytics/savings', 'GET /analytics/agents/costs'],
  ['/v1/analytics/agents/costs/csv?groupBy=week', 'GET /analytics/agents/costs with Accept: text/csv'],
  ['/analytics/merchants/csv', 'GET /analytics/merchants with Accept: text/csv'],
  ['/analytics/anomalies/csv', 'GET /analytics/anomalies with Accept: text/csv'],
  ['/analytics/allocation/csv', 'GET /analytics/allocation with Accept: text/csv'],
  ['/v1/merchants/me/rotate-key', 'the operator keeps'],
])('the removed address %s answers 404 with what replaces it', async (path, words) => {
  const { status, body } = await service.http('GET', path)
  expect([status, body.error]).toEqual([404, expect.stringContaining(words)])
})
