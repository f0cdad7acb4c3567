import { describe, expect, test } from '@jest/globals'
import { bodyOf } from '../../support/factories.ts'
import {
  anIndividual,
  aSubmission,
  eventsOf,
  liveKey,
  personNamed,
  settle,
} from '../../support/identity/kyc.ts'
import { tablesWith } from '../../support/trace.ts'
import { service } from './kyc-service.ts'

const HOUR = { minutes: 60 }

async function submitted(name: string) {
  const { client, ownerId } = await anIndividual(service)
  const { id } = await aSubmission(client, name)
  const get = () => bodyOf(client.kyc.get({ params: { id } }))
  const kycStatus = async () => (await bodyOf(client.customers.me())).kycStatus
  const advance = (body: object) => bodyOf(client.sandbox.advance({ body }))
  return { client, ownerId, id, get, kycStatus, advance }
}

describe('an individual', () => {
  test('reads what is missing, is verified, and creates a live key', async () => {
    const { client, ownerId } = await anIndividual(service)
    const before = await liveKey(client)
    expect(before).toMatchObject({ status: 400, code: 'owner_not_verified' })
    expect(before.error).toContain('Missing: who you are: upload documents with POST /kyc/documents')
    const submission = await aSubmission(client)
    expect(submission).toMatchObject({
      ownerId,
      mode: 'test',
      representativeId: null,
      status: 'pending',
      provider: 'sandbox',
      name: 'Ada Lovelace',
      dateOfBirth: '1985-12-10',
      documents: [{ kind: 'passport', type: 'application/pdf', bytes: 9, eraseAt: null, erasedAt: null }],
      rejection: null,
      decidedBy: null,
      workflowId: `kyc/${submission.id}`,
    })
    expect(await bodyOf(client.kyc.standing())).toEqual({
      customerType: 'individual',
      kycStatus: 'pending',
      canMakeLiveKeys: false,
      missing: [`the end of the identity check: see GET /kyc/submissions/${submission.id}`],
      submissionId: submission.id,
      rejection: null,
    })
    await settle(client)
    expect(await bodyOf(client.kyc.get({ params: { id: submission.id } }))).toMatchObject({
      status: 'verified',
      decidedBy: 'provider',
      contradictedAt: null,
    })
    expect(await bodyOf(client.kyc.standing())).toMatchObject({ canMakeLiveKeys: true, missing: [] })
    expect((await liveKey(client)).status).toBe(201)
    expect(await eventsOf(client, 'kyc.')).toEqual(['kyc.document_uploaded', 'kyc.submitted', 'kyc.verified'])
    expect(await eventsOf(client, 'customer.verified')).toEqual(['customer.verified'])
  })

  test('gives the account the verified name and address, and emits the change for cards', async () => {
    const { client } = await anIndividual(service, 'ada l.')
    await aSubmission(client, 'Ada Lovelace')
    await settle(client)
    const { name, address } = await bodyOf(client.customers.me())
    expect({ name, city: address?.city }).toEqual({ name: 'Ada Lovelace', city: 'Berlin' })
    const [updated] = (await bodyOf(client.events.list({ query: { event: 'cardholder.updated' } }))).data
    expect(updated?.data).toMatchObject({ changed: ['name', 'address'] })
  })

  test('keeps what was said in the submission and the account, and nowhere else', async () => {
    const { client } = await anIndividual(service)
    const address = { line1: 'Quiet Lane 77', city: 'Berlin', postalCode: '10119', country: 'DE' }
    await aSubmission(client, 'Later Quiet Person', { address, dateOfBirth: '1971-03-09' })
    await settle(client)
    expect(await tablesWith(service, 'Quiet Lane 77')).toEqual(['kyc_submissions'])
    expect(await tablesWith(service, '1971-03-09')).toEqual(['kyc_submissions'])
  })

  test('is in review while the provider checks for a day', async () => {
    const { get, kycStatus, advance, client } = await submitted('Later Ada Lovelace')
    await settle(client)
    expect([(await get()).status, await kycStatus()]).toEqual(['in_review', 'in_review'])
    await advance({ minutes: 1_430 })
    expect((await get()).status).toBe('in_review')
    await advance({ minutes: 10 })
    expect([(await get()).status, await kycStatus()]).toEqual(['verified', 'verified'])
    expect(await eventsOf(client, 'kyc.')).toEqual([
      'kyc.document_uploaded',
      'kyc.submitted',
      'kyc.in_review',
      'kyc.verified',
    ])
  })

  test.each([
    ['Unreadable Ada', 'document_unreadable', 'Send a sharp scan'],
    ['Expired Ada', 'document_expired', 'Send a valid one'],
    ['Mismatch Ada', 'data_mismatch', 'exactly as in the documents'],
  ])(
    '%s is rejected with the reason, sends another one, and is verified',
    async (name, code, sendInstead) => {
      const { get, kycStatus, client } = await submitted(name)
      await settle(client)
      const { rejection, status } = await get()
      expect(status).toBe('rejected')
      expect(rejection).toEqual({
        code,
        reason: expect.stringMatching(/\.$/),
        sendInstead: expect.stringContaining(sendInstead),
      })
      expect(await kycStatus()).toBe('rejected')
      expect(await bodyOf(client.kyc.standing())).toMatchObject({ rejection, canMakeLiveKeys: false })
      expect((await liveKey(client)).error).toContain(sendInstead)
      await aSubmission(client, 'Ada Lovelace')
      expect(await kycStatus()).toBe('pending')
      await settle(client)
      expect(await kycStatus()).toBe('verified')
    },
  )

  test('reads the reason if the provider refuses at once or rejects after a day', async () => {
    const refused = await submitted('Refused Ada')
    await settle(refused.client)
    expect((await refused.get()).rejection).toMatchObject({ code: 'person_refused', sendInstead: null })
    const late = await submitted('Later rejected Ada')
    await settle(late.client)
    expect((await late.get()).status).toBe('in_review')
    await late.advance({ days: 1 })
    expect((await late.get()).rejection).toMatchObject({ code: 'data_mismatch' })
  })
})

describe('a provider', () => {
  test.each(['Silent', 'Failing'])('of %s Ada that gives no answer for an hour is waited for', async name => {
    const { get, kycStatus, advance, client } = await submitted(`${name} Ada`)
    await settle(client)
    await advance({ minutes: 55 })
    expect([(await get()).status, await kycStatus()]).toEqual(['pending', 'pending'])
    await advance(HOUR)
    expect([(await get()).status, await kycStatus()]).toEqual(['verified', 'verified'])
    expect(await eventsOf(client, 'kyc.verified')).toEqual(['kyc.verified'])
  })

  test('that never answers leaves it to the operator', async () => {
    const { id, get, advance, kycStatus } = await submitted('Absent Ada')
    await advance({ days: 3 })
    expect((await get()).status).toBe('pending')
    await bodyOf(service.dash.kyc.approve({ params: { id } }))
    expect([(await get()).status, await kycStatus()]).toEqual(['verified', 'verified'])
  })

  test('that does not know a check any more is given it again', async () => {
    const { id, get, advance, client } = await submitted('Forgotten Ada')
    await settle(client)
    await service.sql(`update kyc_submissions set due_at = created_at where id = $1`, [id])
    await settle(client)
    expect((await get()).status).toBe('in_review')
    await advance({ minutes: 12 })
    expect((await get()).status).toBe('verified')
  })

  test('that answers twice verifies once', async () => {
    const { get, client } = await submitted('Twice Ada')
    await settle(client)
    expect(await get()).toMatchObject({ status: 'verified', contradictedAt: null })
    expect(await eventsOf(client, 'kyc.verified')).toEqual(['kyc.verified'])
    expect(await eventsOf(client, 'customer.verified')).toEqual(['customer.verified'])
  })

  test('that verifies after it has rejected changes nothing, and a person sees that it did', async () => {
    const { get, kycStatus, client } = await submitted('Contrary Ada')
    await settle(client)
    expect(await get()).toMatchObject({ status: 'rejected', contradictedAt: expect.any(String) })
    expect(await kycStatus()).toBe('rejected')
    expect(await eventsOf(client, 'kyc.')).toEqual(['kyc.document_uploaded', 'kyc.submitted', 'kyc.rejected'])
    expect((await liveKey(client)).code).toBe('owner_not_verified')
  })
})

test('opens one of many concurrent submissions', async () => {
  const { client } = await anIndividual(service)
  const bodies = await Promise.all(['1', '2', '3', '4'].map(() => personNamed(client, 'Later Ada')))
  const answers = await Promise.all(bodies.map(body => client.kyc.create({ body })))
  expect(answers.map(({ status, code }) => code ?? status).sort()).toEqual([
    201,
    'submission_under_way',
    'submission_under_way',
    'submission_under_way',
  ])
})
