import { describe, expect, test } from '@jest/globals'
import { bodyOf } from '../../support/factories.ts'
import { notice, tell } from '../../support/identity/identity-notices.ts'
import { anIndividual, aSubmission, eventsOf } from '../../support/identity/kyc.ts'
import { service } from './kyc-service.ts'

const VERIFIED = { status: 'verified' } as const
const REJECTED = { status: 'rejected', code: 'document_expired' } as const

async function waiting() {
  const { client } = await anIndividual(service)
  const { id } = await aSubmission(client, 'Absent Ada')
  return { client, id, get: () => bodyOf(client.kyc.get({ params: { id } })) }
}

describe('a notice of the provider', () => {
  test('takes the submission into review and ends it, however often it comes', async () => {
    const { client, id, get } = await waiting()
    expect((await tell(service, notice(id, { status: 'in_review' }))).body).toEqual({ taken: true })
    expect((await get()).status).toBe('in_review')
    const answers = await Promise.all([1, 2, 3].map(() => tell(service, notice(id, VERIFIED))))
    expect(answers.map(({ body }) => body.taken).sort()).toEqual([false, false, true])
    expect((await get()).status).toBe('verified')
    expect(await eventsOf(client, 'kyc.verified')).toEqual(['kyc.verified'])
    expect((await tell(service, notice(id, { status: 'in_review' }))).body).toEqual({ taken: false })
    expect((await get()).status).toBe('verified')
  })

  test('that says the opposite of the first is noted and changes nothing', async () => {
    const { id, get } = await waiting()
    await tell(service, notice(id, REJECTED))
    await tell(service, notice(id, VERIFIED))
    expect(await get()).toMatchObject({
      status: 'rejected',
      rejection: { code: 'document_expired' },
      contradictedAt: expect.any(String),
    })
  })

  test('comes too late once the operator has decided', async () => {
    const { id, get } = await waiting()
    await bodyOf(service.dash.kyc.reject({ params: { id }, body: { reason: 'Not the person.' } }))
    await tell(service, notice(id, VERIFIED))
    expect(await get()).toMatchObject({ status: 'rejected', decidedBy: 'operator', contradictedAt: null })
  })

  test('is ignored for an unknown submission', async () => {
    const { status, body } = await tell(service, notice('kycsubmission_01jd8x2m4ye7k9v0c3q5r6t8wz', VERIFIED))
    expect([status, body]).toEqual([200, { taken: false }])
  })

  test('without the signature, with another secret’s, or that cannot be read is refused', async () => {
    const { id, get } = await waiting()
    const path = '/rails/identity-verification'
    const plain = await service.http('POST', path, { body: notice(id, VERIFIED) })
    expect(plain.status).toBe(401)
    expect((await tell(service, notice(id, VERIFIED), '00'.repeat(32))).status).toBe(401)
    const forged = await service.http('POST', path, {
      headers: { 'identity-provider-signature': `t=1,v1=${'0'.repeat(64)}` },
      body: notice(id, VERIFIED),
    })
    expect(forged.status).toBe(401)
    expect((await get()).status).toBe('pending')
  })
})
