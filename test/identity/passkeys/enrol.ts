import { describe, expect, test } from '@jest/globals'
import { bodyOf } from '../../support/factories.ts'
import { Authenticator } from '../../support/identity/authenticator.ts'
import { aPerson, assertion, enrol, enrolled, originOf } from '../../support/identity/people.ts'
import { service } from './service.ts'

const origin = originOf(service)

describe('the first passkey of an account', () => {
  test.each(['ES256', 'Ed25519', 'RS256'] as const)('is enrolled with a key: %s', async algorithm => {
    const owner = await service.owner()
    const { passkeyId, personId } = await enrolled(service, owner, { algorithm })
    const { data } = await bodyOf(owner.client.passkeys.list())
    expect(data).toEqual([
      expect.objectContaining({ id: passkeyId, personId, algorithm, enrolledBy: 'key', revokedAt: null }),
    ])
  })
})

test('a further passkey needs one that is enrolled', async () => {
  const owner = await service.owner()
  const first = await enrolled(service, owner)
  const { id } = await aPerson(service, owner, { role: 'approver' })
  const refused = await owner.client.passkeys.registerOptions({ body: { personId: id } })
  expect([refused.status, refused.code]).toEqual([400, 'assertion_required'])
  await enrol(owner.client, id, new Authenticator({ origin }), first)
  expect((await bodyOf(owner.client.passkeys.list())).data).toHaveLength(2)
})

test('a passkey is revoked by another one', async () => {
  const owner = await service.owner()
  const one = await enrolled(service, owner)
  const other = await enrolled(service, owner, { by: one })
  const params = { id: one.passkeyId }
  const refused = await owner.client.passkeys.revoke({ params })
  expect([refused.status, refused.code]).toEqual([400, 'assertion_required'])
  const webauthnAssertion = await assertion(owner.client, other, {
    purpose: 'revocation',
    subject: one.passkeyId,
  })
  const done = await owner.client.passkeys.revoke({ params, body: { webauthnAssertion } })
  expect([done.status, done.error]).toEqual([204, undefined])
  expect((await owner.client.passkeys.revoke({ params: { id: other.passkeyId } })).status).toBe(204)
})
