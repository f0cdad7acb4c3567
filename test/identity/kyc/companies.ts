import { describe, expect, test } from '@jest/globals'
import { bodyOf } from '../../support/factories.ts'
import {
  aDocument,
  aSubmission,
  eventsOf,
  liveKey,
  personNamed,
  settle,
  torstrasse,
} from '../../support/identity/kyc.ts'
import { service } from './kyc-service.ts'

const { dash } = service

async function company(...names: string[]) {
  const { client } = await service.owner()
  const people = names.map(name => ({ name, dateOfBirth: '1985-12-10', country: 'DE' }))
  const body = {
    legalName: 'Analytical Engines GmbH',
    legalForm: 'GmbH',
    registerNumber: 'HRB 123456 B',
    address: torstrasse,
    intendedUse: 'Agents buy research papers.',
    expectedMonthlyVolumeEuros: 25_000,
    representatives: people,
  }
  const onboarding = await bodyOf(client.onboarding.create({ body }))
  const params = { id: onboarding.id }
  const get = () => bodyOf(client.onboarding.get({ params }))
  const kycStatus = async () => (await bodyOf(client.customers.me())).kycStatus
  const [first] = onboarding.representatives
  if (!first) throw new Error('no representative')
  return {
    client,
    params,
    get,
    kycStatus,
    representatives: onboarding.representatives,
    representativeId: first.id,
  }
}

const statuses = (record: { representatives: readonly { status: string }[] }) =>
  record.representatives.map(({ status }) => status)

describe('a company', () => {
  test('goes from nothing to its first live key', async () => {
    const { client: nobody } = await service.owner()
    expect((await liveKey(nobody)).error).toContain(
      'Missing: the onboarding of the company: POST /onboarding',
    )
    const { client, params, get, kycStatus, representatives } = await company('Ada Lovelace', 'Later Bob')
    expect(await kycStatus()).toBe('pending')
    expect((await liveKey(client)).error).toContain('the identity of Ada Lovelace; the identity of Later Bob')
    for (const { id, name } of representatives) await aSubmission(client, name, { representativeId: id })
    expect(statuses(await get())).toEqual(['pending', 'pending'])
    await settle(client)
    expect(statuses(await get())).toEqual(['verified', 'in_review'])
    await settle(client)
    expect([(await get()).status, await kycStatus()]).toEqual(['in_review', 'in_review'])
    expect((await dash.onboarding.approve({ params })).code).toBe('identities_missing')
    await bodyOf(client.sandbox.advance({ body: { days: 1 } }))
    expect(statuses(await get())).toEqual(['verified', 'verified'])
    expect((await liveKey(client)).code).toBe('owner_not_verified')
    await bodyOf(dash.onboarding.approve({ params }))
    expect(await bodyOf(client.customers.me())).toMatchObject({
      kycStatus: 'verified',
      name: 'Analytical Engines GmbH',
      address: { city: 'Berlin' },
    })
    expect(await eventsOf(client, 'customer.verified')).toEqual(['customer.verified'])
    expect(await eventsOf(client, 'cardholder.updated')).toEqual(['cardholder.updated'])
    expect(await bodyOf(client.kyc.standing())).toMatchObject({ canMakeLiveKeys: true, missing: [] })
    expect((await liveKey(client)).status).toBe(201)
  })

  test('whose representative is rejected sends the person again', async () => {
    const { client, get, representativeId } = await company('Ada Lovelace')
    const documents = [(await aDocument(client)).id]
    const { id } = await aSubmission(client, 'Ada Lovelace', { representativeId, documentIds: documents })
    await bodyOf(dash.kyc.reject({ params: { id }, body: { code: 'document_unreadable' } }))
    expect(statuses(await get())).toEqual(['rejected'])
    await aSubmission(client, 'Ada Lovelace', { representativeId })
    expect(statuses(await get())).toEqual(['pending'])
    await settle(client)
    expect(statuses(await get())).toEqual(['verified'])
    expect(
      (await client.kyc.create({ body: await personNamed(client, 'Ada Lovelace', { representativeId }) }))
        .code,
    ).toBe('already_verified')
  })

  test('cannot have another person verified in place of its representative', async () => {
    const { client, representativeId } = await company('Ada Lovelace')
    const code = async (name: string, members: object) =>
      (await client.kyc.create({ body: await personNamed(client, name, { representativeId, ...members }) }))
        .code
    expect(await code('Somebody Else', {})).toBe('person_differs')
    expect(await code('Ada Lovelace', { dateOfBirth: '1990-01-01' })).toBe('person_differs')
    expect(await code('ADA LOVELACE', {})).toBeUndefined()
  })

  test('returns to the beginning after a withdrawal, and reads the reason of a rejection', async () => {
    const withdrawn = await company('Ada Lovelace')
    await bodyOf(withdrawn.client.onboarding.withdraw({ params: withdrawn.params }))
    expect(await withdrawn.kycStatus()).toBe('none')
    const body = await personNamed(withdrawn.client, 'Ada Lovelace', {
      representativeId: withdrawn.representativeId,
    })
    expect((await withdrawn.client.kyc.create({ body })).code).toBe('representative_not_found')
    const rejected = await company('Ada Lovelace')
    const reason = 'The register knows no such company.'
    await bodyOf(dash.onboarding.reject({ params: rejected.params, body: { reason } }))
    expect(await rejected.kycStatus()).toBe('rejected')
    expect((await liveKey(rejected.client)).code).toBe('owner_not_verified')
  })

  test('is approved while a notice about its representative comes in, and nothing waits for ever', async () => {
    const { client, params, representativeId, kycStatus } = await company('Ada Lovelace')
    const { id } = await aSubmission(client, 'Ada Lovelace', { representativeId })
    await Promise.all([
      dash.kyc.approve({ params: { id } }),
      dash.onboarding.approve({ params }),
      dash.kyc.approve({ params: { id } }),
      dash.onboarding.approve({ params }),
    ])
    await settle(client)
    await dash.onboarding.approve({ params })
    expect(await kycStatus()).toBe('verified')
  })
})
