import { describe, expect, test } from '@jest/globals'
import type { Manner } from '../../support/identity/authenticator.ts'
import { bestOf } from '../../support/longest-turn.ts'
import { type Envelope, revoked, withExtensions } from './sent-assertions.ts'
import { anAccount, isActive, service, told, toRevoke } from './service.ts'

const NESTED = Buffer.concat([Buffer.alloc(2_900, 0x81), Buffer.from([0])])
const UNREADABLE: [string, Manner][] = [
  ['client data that is not UTF-8', { clientData: () => Buffer.from([0x7b, 0xff, 0xfe, 0x7d]) }],
  [
    'client data with one byte that is not UTF-8',
    {
      clientData: members => Buffer.from(JSON.stringify({ ...members, more: 'ÿ' }), 'latin1'),
    },
  ],
  ['client data that is no JSON', { clientData: () => '{"type":' }],
  ['client data that is a list', { clientData: () => '[]' }],
  [
    'client data without an origin',
    { clientData: ({ type, challenge }) => JSON.stringify({ type, challenge }) },
  ],
  ['authenticator data that is too short', { authenticatorData: data => data.subarray(0, 36) }],
  ['authenticator data with bytes left over', { authenticatorData: data => Buffer.concat([data, data]) }],
  ['CBOR garbage', { authenticatorData: withExtensions(Buffer.from('ffdeadbeef9f9f9f', 'hex')) }],
  [
    'CBOR that says it is longer',
    { authenticatorData: withExtensions(Buffer.from('bbffffffffffffffff', 'hex')) },
  ],
  ['CBOR that is nested deeply', { authenticatorData: withExtensions(NESTED) }],
]

describe('what cannot be read is a 400 that burns nothing:', () => {
  test.each(UNREADABLE)('%s', async (_, manner) => {
    const { account, answer, wasRevoked, original } = await revoked(manner)
    expect([told(answer), wasRevoked]).toEqual(['400 assertion_malformed', false])
    const [challenge] = await service.sql('select used_at from passkey_challenges where id = $1', [
      original.challengeId,
    ])
    expect(challenge).toEqual({ used_at: null })
    const { body } = await account.client.passkeys.list()
    expect(body.data.every(({ blockedUntil }) => blockedUntil === null)).toBe(true)
  })

  test.each<[string, (envelope: Envelope) => object]>([
    ['no assertion', ({ challengeId }) => ({ challengeId })],
    ['a list', () => ({ challengeId: [], assertion: [] })],
    [
      'a signature that is no base64url',
      ({ challengeId, assertion }) => ({
        challengeId,
        assertion: { ...assertion, response: { ...assertion.response, signature: '!!' } },
      }),
    ],
    [
      'a signature of 30,000 characters',
      ({ challengeId, assertion }) => ({
        challengeId,
        assertion: { ...assertion, response: { ...assertion.response, signature: 'A'.repeat(30_000) } },
      }),
    ],
  ])('an envelope with %s', async (_, change) => {
    const account = await anAccount()
    const { client, one, other } = account
    const { webauthnAssertion } = await toRevoke(client, other, one.passkeyId)
    const body = { webauthnAssertion: change(webauthnAssertion) as Record<string, unknown> }
    const answer = await client.passkeys.revoke({ params: { id: one.passkeyId }, body })
    expect([told(answer), await isActive(account, one.passkeyId)]).toEqual(['400 assertion_malformed', true])
  })

  test('an assertion of a megabyte is not even read to its end', async () => {
    const { client, one } = await anAccount()
    const body = { webauthnAssertion: { challengeId: 'x', assertion: 'A'.repeat(1_048_576) } }
    const answer = await client.passkeys.revoke({ params: { id: one.passkeyId }, body })
    expect(told(answer)).toBe('413 body_too_large')
  })

  test('none of it holds up others for 50 ms', async () => {
    const account = await anAccount()
    const { client, one, other } = account
    const bodies = await Promise.all(
      UNREADABLE.map(([, manner]) => toRevoke(client, other, one.passkeyId, manner)),
    )
    const longest = await bestOf(50, () =>
      Promise.all(bodies.map(body => client.passkeys.revoke({ params: { id: one.passkeyId }, body }))),
    )
    expect(longest).toBeLessThan(50)
  })
})
