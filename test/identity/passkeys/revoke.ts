import { describe, expect, test } from '@jest/globals'
import { aLiveClient, bodyOf } from '../../support/factories.ts'
import { enrolled } from '../../support/identity/people.ts'
import { anAccount, inOtherProcess, isActive, service, told, toRevoke } from './service.ts'

describe('the only passkey of an account', () => {
  test.each<[string, Record<string, unknown> | undefined]>([
    ['without an assertion', undefined],
    ['and what is sent along is not looked at', { challengeId: 'none', assertion: 'garbage' }],
    ['and a list is not looked at, either', { assertion: [] }],
  ])('is revoked %s', async (_, webauthnAssertion) => {
    const owner = await service.owner()
    const { passkeyId } = await enrolled(service, owner)
    const body = webauthnAssertion ? { webauthnAssertion } : {}
    const answer = await owner.client.passkeys.revoke({ params: { id: passkeyId }, body })
    expect([told(answer), answer.body]).toEqual(['204', undefined])
    expect(told(await owner.client.passkeys.revoke({ params: { id: passkeyId } }))).toBe(
      '404 passkey_not_found',
    )
  })

  test('is only that of its mode and owner: those of others do not count', async () => {
    const { client, one, other } = await anAccount()
    await anAccount()
    await client.passkeys.revoke({
      params: { id: one.passkeyId },
      body: await toRevoke(client, other, one.passkeyId),
    })
    expect(told(await client.passkeys.revoke({ params: { id: other.passkeyId } }))).toBe('204')
  })
})

describe('of two passkeys', () => {
  test('none is revoked without an assertion', async () => {
    const account = await anAccount()
    const { client, one } = account
    const answer = await client.passkeys.revoke({ params: { id: one.passkeyId } })
    expect([told(answer), await isActive(account, one.passkeyId)]).toEqual(['400 assertion_required', true])
  })

  test('none revokes itself', async () => {
    const account = await anAccount()
    const { client, one } = account
    const body = await toRevoke(client, one, one.passkeyId)
    const answer = await client.passkeys.revoke({ params: { id: one.passkeyId }, body })
    expect([told(answer), await isActive(account, one.passkeyId)]).toEqual(['403 self_revocation', true])
    const again = await client.passkeys.revoke({ params: { id: one.passkeyId }, body })
    expect(told(again)).toBe('400 challenge_used')
  })

  test('one is left when they revoke each other at once, in two processes', async () => {
    for (let round = 0; round < 5; round++) {
      const { owner, client, one, other } = await anAccount()
      const [toOne, toOther] = [
        await toRevoke(client, other, one.passkeyId),
        await toRevoke(client, one, other.passkeyId),
      ]
      const answers = await Promise.all([
        client.passkeys.revoke({ params: { id: one.passkeyId }, body: toOne }),
        inOtherProcess(owner.key).passkeys.revoke({ params: { id: other.passkeyId }, body: toOther }),
      ])
      expect(answers.map(told).sort()).toEqual(['204', '401 assertion_invalid'])
      expect((await bodyOf(client.passkeys.list({ query: { status: 'active' } }))).data).toHaveLength(1)
    }
  })

  test('one is left when they revoke each other one after the other, too', async () => {
    const { client, one, other } = await anAccount()
    const [toOne, toOther] = [
      await toRevoke(client, other, one.passkeyId),
      await toRevoke(client, one, other.passkeyId),
    ]
    const first = await client.passkeys.revoke({ params: { id: one.passkeyId }, body: toOne })
    const second = await client.passkeys.revoke({ params: { id: other.passkeyId }, body: toOther })
    expect([told(first), told(second)]).toEqual(['204', '401 assertion_invalid'])
  })
})

test('one assertion that is sent twice at once, to two processes, counts once', async () => {
  for (let round = 0; round < 5; round++) {
    const { owner, client, one, other } = await anAccount()
    await enrolled(service, owner, { by: one })
    const body = await toRevoke(client, other, one.passkeyId)
    const params = { id: one.passkeyId }
    const answers = await Promise.all([
      client.passkeys.revoke({ params, body }),
      inOtherProcess(owner.key).passkeys.revoke({ params, body }),
    ])
    // The other one may also arrive after the passkey is revoked.
    expect(answers.map(told).sort()).toEqual(['204', expect.stringMatching(/challenge_used|not_found/)])
  }
})

test('one assertion of a refusal that is sent twice at once, to two processes, is judged once', async () => {
  const { owner, client, one } = await anAccount()
  const body = await toRevoke(client, one, one.passkeyId)
  const params = { id: one.passkeyId }
  const answers = await Promise.all(
    [client, inOtherProcess(owner.key), client, inOtherProcess(owner.key)].map(sender =>
      sender.passkeys.revoke({ params, body }),
    ),
  )
  const used = '400 challenge_used'
  expect(answers.map(told).sort()).toEqual([used, used, used, '403 self_revocation'])
})

describe('a passkey', () => {
  test('is renamed, and shows who enrolled and revoked it', async () => {
    const { owner, client, one } = await anAccount()
    const params = { id: one.passkeyId }
    const renamed = await bodyOf(client.passkeys.rename({ params, body: { name: 'Old phone' } }))
    expect(renamed.name).toBe('Old phone')
    await client.passkeys.rename({ params, body: { name: 'Old phone' } })
    const events = await service.sql(
      `select event, data from events where owner_id = $1 and event like 'passkey.%' order by id`,
      [owner.ownerId],
    )
    expect(events.map(({ event }) => event)).toEqual([
      'passkey.enrolled',
      'passkey.enrolled',
      'passkey.renamed',
    ])
    expect(events[2]?.data).toEqual({ passkeyId: one.passkeyId, personId: one.personId, name: 'Old phone' })
  })

  test('that is revoked stays in the list, and is not renamed', async () => {
    const { client, one, other } = await anAccount()
    const params = { id: one.passkeyId }
    await client.passkeys.revoke({ params, body: await toRevoke(client, other, one.passkeyId) })
    const { data } = await bodyOf(client.passkeys.list({ query: { status: 'revoked' } }))
    expect(data).toEqual([expect.objectContaining({ id: one.passkeyId, revokedAt: expect.any(String) })])
    const answer = await client.passkeys.rename({ params, body: { name: 'x' } })
    expect(told(answer)).toBe('404 passkey_not_found')
    expect((await bodyOf(client.passkeys.list({ query: { personId: other.personId } }))).data).toHaveLength(1)
  })

  test('of test mode does not exist in live mode', async () => {
    const { owner, one } = await anAccount()
    const live = await aLiveClient(service, owner)
    expect((await bodyOf(live.passkeys.list())).data).toEqual([])
    expect(told(await live.passkeys.revoke({ params: { id: one.passkeyId } }))).toBe('404 passkey_not_found')
    const enrolment = await live.passkeys.registerOptions({ body: { personId: one.personId } })
    expect(told(enrolment)).toBe('404 person_not_found')
  })
})

test('the origins of our pages are listed for browsers', async () => {
  const { body } = await service.http('GET', '/.well-known/webauthn')
  expect(body).toEqual({ origins: ['https://pay.example', 'https://shop.example'] })
})
