import { describe, expect, test } from '@jest/globals'
import { bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { anIndividual, aSubmission, eventsOf, settle } from '../../support/identity/kyc.ts'
import { service } from './kyc-service.ts'

const manual = await startTestService({ env: { KYC_PROVIDER: 'manual' } })
const { dash } = service

describe('the operator', () => {
  test('sees the submissions of all owners, and those of one', async () => {
    const one = await anIndividual(service)
    const other = await anIndividual(service)
    const first = await aSubmission(one.client, 'Later Ada')
    const second = await aSubmission(other.client, 'Later Bob')
    const ids = async (query: object) => (await bodyOf(dash.kyc.list({ query }))).data.map(({ id }) => id)
    expect((await ids({ status: 'pending', limit: 2 })).slice(0, 2)).toEqual([second.id, first.id])
    expect(await ids({ ownerId: one.ownerId })).toEqual([first.id])
    expect(await ids({ ownerId: one.ownerId, mode: 'live' })).toEqual([])
    const page = await bodyOf(dash.kyc.list({ query: { limit: 1 } }))
    const rest = await ids({ limit: 1, cursor: String(page.nextCursor) })
    expect(page.data.map(({ id }) => id)).not.toEqual(rest)
    expect((await bodyOf(dash.kyc.get({ params: { id: first.id } }))).name).toBe('Later Ada')
    expect(await bodyOf(one.client.kyc.list({ query: { ownerId: other.ownerId } }))).toMatchObject({
      data: [],
    })
  })

  test('rejects with a text of their own or that of the code, which the person can read', async () => {
    const { client } = await anIndividual(service)
    const { id } = await aSubmission(client, 'Absent Ada')
    const body = {
      code: 'other',
      reason: 'The photo is of a cat.',
      sendInstead: 'Send one of yourself.',
    } as const
    expect(await bodyOf(dash.kyc.reject({ params: { id }, body }))).toMatchObject({
      status: 'rejected',
      decidedBy: 'operator',
      rejection: body,
    })
    expect((await bodyOf(client.customers.me())).kycStatus).toBe('rejected')
    expect(await eventsOf(client, 'kyc.rejected')).toEqual(['kyc.rejected'])
    const next = await aSubmission(client, 'Absent Ada')
    const rejected = await bodyOf(
      dash.kyc.reject({ params: { id: next.id }, body: { code: 'document_expired' } }),
    )
    expect(rejected.rejection).toMatchObject({ sendInstead: 'Send a valid one.' })
  })

  test('decides once: of approve and reject at the same time one counts', async () => {
    const { client } = await anIndividual(service)
    const { id } = await aSubmission(client, 'Absent Ada')
    const params = { id }
    const answers = await Promise.all([
      dash.kyc.approve({ params }),
      dash.kyc.reject({ params, body: {} }),
      dash.kyc.approve({ params }),
    ])
    expect(answers.map(({ status, code }) => code ?? status).sort()).toEqual([
      200,
      'submission_decided',
      'submission_decided',
    ])
    const unknown = { params: { id: 'kycsubmission_01jd8x2m4ye7k9v0c3q5r6t8wz' } }
    expect((await dash.kyc.approve(unknown)).code).toBe('submission_not_found')
  })
})

describe('with KYC_PROVIDER=manual', () => {
  test('magic names do nothing, and the operator decides', async () => {
    const { client } = await anIndividual(manual)
    const { id } = await aSubmission(client, 'Ada Lovelace')
    await settle(client)
    await bodyOf(client.sandbox.advance({ body: { days: 30 } }))
    expect(await bodyOf(client.kyc.get({ params: { id } }))).toMatchObject({
      status: 'in_review',
      provider: 'manual',
    })
    await bodyOf(manual.dash.kyc.approve({ params: { id } }))
    expect((await bodyOf(client.customers.me())).kycStatus).toBe('verified')
  })
})
