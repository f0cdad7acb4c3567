import { describe, expect, test } from '@jest/globals'
import { bodyOf } from '../../support/factories.ts'
import type { Manner } from '../../support/identity/authenticator.ts'
import { assertion, enrolled } from '../../support/identity/people.ts'
import { b64, type Response, revoked, text, withExtensions } from './sent-assertions.ts'
import { anAccount, isActive, service, told, toRevoke } from './service.ts'

describe('an assertion is refused, and nothing is revoked:', () => {
  test.each<[string, Manner]>([
    ['from another origin', { origin: 'https://evil.example' }],
    ['from an origin that begins like ours', { origin: 'https://pay.example.evil.example' }],
    ['from our host by http', { origin: 'http://pay.example' }],
    ['from a frame in another page', { crossOrigin: true }],
    ['for another site', { rpId: 'evil.example' }],
    ['without the verification of its user', { isVerified: false }],
    ['without the presence of anybody', { isPresent: false }],
    ['of another person’s handle', { userHandle: b64('person_other') }],
    ['of an enrolment', { type: 'webauthn.create' }],
    ['of a backup that its passkey cannot have', { backupEligible: false, backedUp: true }],
  ])('%s', async (_, manner) => {
    const { answer, wasRevoked } = await revoked(manner)
    expect([told(answer), wasRevoked]).toEqual(['401 assertion_invalid', false])
    expect(answer.error).toBe(
      'The passkey’s signature is not valid. Get a new challenge and try again, or use another passkey.',
    )
  })

  const ALTERED: [string, (response: Response) => object][] = [
    [
      'client data',
      ({ clientDataJSON }) => ({ clientDataJSON: b64(text(clientDataJSON).replace('{', '{"more":1,')) }),
    ],
    [
      'challenge',
      ({ clientDataJSON }) => ({
        clientDataJSON: b64(
          JSON.stringify({ ...JSON.parse(text(clientDataJSON)), challenge: b64('another') }),
        ),
      }),
    ],
    [
      'authenticator data',
      ({ authenticatorData }) => {
        const data = Buffer.from(authenticatorData, 'base64url')
        data[36] = 9
        return { authenticatorData: b64(data) }
      },
    ],
    ['signature', () => ({ signature: b64(Buffer.alloc(70, 1)) })],
    ['signature, which is empty', () => ({ signature: '' })],
  ]
  test.each(ALTERED)('altered after it was signed: %s', async (_, change) => {
    const { answer, wasRevoked } = await revoked({}, change)
    expect([told(answer), wasRevoked]).toEqual(['401 assertion_invalid', false])
  })

  test('by the passkey of another owner', async () => {
    const [account, stranger] = [await anAccount(), await anAccount()]
    const { client, one } = account
    const body = await toRevoke(client, stranger.other, one.passkeyId)
    const answer = await client.passkeys.revoke({ params: { id: one.passkeyId }, body })
    expect([told(answer), await isActive(account, one.passkeyId)]).toEqual(['401 assertion_invalid', true])
  })

  test('by a passkey that is revoked', async () => {
    const account = await anAccount()
    const { owner, client, one, other } = account
    const third = await enrolled(service, owner, { by: one })
    const body = await toRevoke(client, third, one.passkeyId)
    await client.passkeys.revoke({
      params: { id: third.passkeyId },
      body: await toRevoke(client, other, third.passkeyId),
    })
    const answer = await client.passkeys.revoke({ params: { id: one.passkeyId }, body })
    expect([told(answer), await isActive(account, one.passkeyId)]).toEqual(['401 assertion_invalid', true])
  })

  test('with a challenge of another owner', async () => {
    const [account, stranger] = [await anAccount(), await anAccount()]
    const body = await toRevoke(stranger.client, account.other, stranger.one.passkeyId)
    const answer = await account.client.passkeys.revoke({ params: { id: account.one.passkeyId }, body })
    expect(told(answer)).toBe('400 challenge_unknown')
  })

  test('with a challenge that is over', async () => {
    const account = await anAccount()
    const { client, one, other } = account
    const body = await toRevoke(client, other, one.passkeyId)
    await service.sql(
      `update passkey_challenges set created_at = now() - interval '6 minutes', expires_at = now() - interval '2 minutes'
       where id = $1`,
      [body.webauthnAssertion.challengeId],
    )
    const answer = await client.passkeys.revoke({ params: { id: one.passkeyId }, body })
    expect([told(answer), await isActive(account, one.passkeyId)]).toEqual(['400 challenge_expired', true])
  })
})

describe('over something else, an assertion is a 400:', () => {
  test('another passkey', async () => {
    const account = await anAccount()
    const { owner, client, one, other } = account
    const third = await enrolled(service, owner, { by: one })
    const body = await toRevoke(client, other, third.passkeyId)
    const answer = await client.passkeys.revoke({ params: { id: one.passkeyId }, body })
    expect([told(answer), await isActive(account, one.passkeyId)]).toEqual(['400 statement_outdated', true])
    const again = await client.passkeys.revoke({ params: { id: third.passkeyId }, body })
    expect(told(again)).toBe('400 challenge_used')
  })

  test('another purpose', async () => {
    const { client, one, other } = await anAccount()
    const webauthnAssertion = await assertion(client, other, { purpose: 'enrolment', subject: one.personId })
    const answer = await client.passkeys.revoke({
      params: { id: one.passkeyId },
      body: { webauthnAssertion },
    })
    expect(told(answer)).toBe('400 statement_outdated')
  })

  test('another challenge, which the device has really signed', async () => {
    const { answer, wasRevoked } = await revoked({ challenge: b64('c'.repeat(32)) })
    expect([told(answer), wasRevoked]).toEqual(['400 statement_outdated', false])
  })

  test('the passkey by a name that it no longer has', async () => {
    const account = await anAccount()
    const { client, one, other } = account
    const body = await toRevoke(client, other, one.passkeyId)
    await client.passkeys.rename({ params: { id: one.passkeyId }, body: { name: 'Old phone' } })
    const answer = await client.passkeys.revoke({ params: { id: one.passkeyId }, body })
    expect([told(answer), await isActive(account, one.passkeyId)]).toEqual(['400 statement_outdated', true])
  })
})

describe('an assertion counts', () => {
  test.each<[string, Manner]>([
    ['as devices write it', {}],
    [
      'with members that browsers add, in another order',
      {
        clientData: ({ type, challenge, origin, crossOrigin }) =>
          JSON.stringify({
            other_keys_can_be_added_here: 'do not compare clientDataJSON against a template',
            crossOrigin,
            origin,
            challenge,
            type,
          }),
      },
    ],
    ['with spaces', { clientData: members => JSON.stringify(members, null, 2) }],
    [
      'without a word of frames',
      { clientData: ({ type, challenge, origin }) => JSON.stringify({ type, challenge, origin }) },
    ],
    ['without a user handle', { userHandle: null }],
    ['from another origin of ours', { origin: 'https://shop.example' }],
    [
      'with the results of extensions',
      { authenticatorData: withExtensions(Buffer.from('a16b6372656450726f74656374f5', 'hex')) },
    ],
  ])('%s', async (_, manner) => {
    const { answer, wasRevoked } = await revoked(manner)
    expect([told(answer), wasRevoked]).toEqual(['204', true])
  })

  test('by each algorithm', async () => {
    const { owner, client, one } = await anAccount()
    for (const algorithm of ['Ed25519', 'RS256'] as const) {
      const signer = await enrolled(service, owner, { by: one, algorithm })
      const target = await enrolled(service, owner, { by: one })
      const body = await toRevoke(client, signer, target.passkeyId)
      expect(told(await client.passkeys.revoke({ params: { id: target.passkeyId }, body }))).toBe('204')
    }
  })

  test('and its challenge shows sentence and statement in advance', async () => {
    const { client, one } = await anAccount()
    const body = { purpose: 'revocation', subject: one.passkeyId } as const
    const { sentence, statement, options } = await bodyOf(client.passkeys.challenge({ body }))
    expect(sentence).toBe(`Revoke the passkey “Phone” (${one.passkeyId}).`)
    expect(statement).toMatchObject({ kind: 'revocation', origin: 'https://pay.example', mode: 'test' })
    expect(options).toMatchObject({ rpId: 'pay.example', userVerification: 'required', timeout: 300_000 })
    expect(options.allowCredentials.map(({ id }) => id)).not.toContain(one.device.credentialId)
    expect(options.allowCredentials).toHaveLength(1)
  })
})
