import { describe, expect, test } from '@jest/globals'
import { areas } from '../../../src/areas.ts'
import { deleteExpiredRows } from '../../../src/kernel/background/sweep.ts'
import { openDatabase } from '../../../src/platform/database.ts'
import { bodyOf } from '../../support/factories.ts'
import type { Manner } from '../../support/identity/authenticator.ts'
import { type Account, anAccount, service, told, toRevoke } from './service.ts'

/** The result of revoking `one`, signed by `other` in this manner. */
async function attempt({ client, one, other }: Account, manner: Manner = {}): Promise<string> {
  const body = await toRevoke(client, other, one.passkeyId, manner)
  return told(await client.passkeys.revoke({ params: { id: one.passkeyId }, body }))
}

const FAILING = { isVerified: false }

const stateOf = async ({ client, other }: Account) => {
  const { data } = await bodyOf(client.passkeys.list())
  return data.find(({ id }) => id === other.passkeyId)
}

const blockedEvents = async ({ owner }: Account) =>
  service.sql(`select data from events where owner_id = $1 and event = 'passkey.blocked'`, [owner.ownerId])

test('keeps a passkey open after wrong signatures, and takes its next valid one at once', async () => {
  const account = await anAccount()
  const answers = []
  for (let n = 0; n < 12; n++) answers.push(await attempt(account, FAILING))
  expect(answers).toEqual([
    ...Array(10).fill('401 assertion_invalid'),
    '429 rate_limited',
    '429 rate_limited',
  ])
  expect(await stateOf(account)).toMatchObject({ blockedUntil: null })
  expect(await attempt(account)).toBe('204')
})

describe('the counter of a device', () => {
  const signingWith = (account: Account) => async (counter: number) => attempt(account, { counter })

  test('that falls or stays closes the passkey for fifteen minutes, once its signature is valid', async () => {
    const account = await anAccount()
    const sign = signingWith({ ...account, one: account.other })
    expect(await sign(5)).toBe('403 self_revocation')
    expect(await attempt({ ...account, one: account.other }, { counter: 3, isVerified: false })).toBe(
      '401 assertion_invalid',
    )
    expect(await stateOf(account)).toMatchObject({ blockedUntil: null })
    expect(await sign(5)).toBe('401 assertion_invalid')
    const { blockedUntil } = (await stateOf(account)) ?? {}
    const minutes = (Date.parse(String(blockedUntil)) - Date.now()) / 60_000
    expect(minutes).toBeGreaterThan(13)
    expect(minutes).toBeLessThan(16)
    expect(await sign(6)).toBe('401 assertion_invalid')
    const { passkeyId, personId } = account.other
    expect(await blockedEvents(account)).toEqual([
      { data: expect.objectContaining({ passkeyId, personId, blockedUntil }) },
    ])
    await service.sql(`update passkeys set blocked_until = now() - interval '1 second' where id = $1`, [
      passkeyId,
    ])
    expect(await sign(7)).toBe('403 self_revocation')
  })

  test('that rises is kept', async () => {
    const sign = signingWith(await anAccount())
    expect(await sign(4_294_967_295)).toBe('204')
  })

  test('that counts never is always taken', async () => {
    const account = await anAccount()
    const { client, one } = account
    for (let n = 0; n < 3; n++) {
      const body = await toRevoke(client, one, one.passkeyId)
      expect(told(await client.passkeys.revoke({ params: { id: one.passkeyId }, body }))).toBe(
        '403 self_revocation',
      )
    }
  })
})

test('a backup that has changed is noted, not refused', async () => {
  const account = await anAccount()
  const { client, other } = account
  expect(await stateOf(account)).toMatchObject({
    backedUp: true,
    backupEligible: true,
    backupChangedAt: null,
  })
  const body = await toRevoke(client, other, other.passkeyId, { backedUp: false })
  await client.passkeys.revoke({ params: { id: other.passkeyId }, body })
  expect(await stateOf(account)).toMatchObject({
    backedUp: false,
    backupChangedAt: expect.any(String),
    lastUsedAt: expect.any(String),
  })
})

test('a challenge is forgotten a day after its end, with the names in it', async () => {
  const account = await anAccount()
  const { client, one, other } = account
  const [old, recent] = [
    await toRevoke(client, other, one.passkeyId),
    await toRevoke(client, other, one.passkeyId),
  ].map(({ webauthnAssertion }) => webauthnAssertion.challengeId)
  const end = (id: string | undefined, hours: number) =>
    service.sql(
      `update passkey_challenges set created_at = now() - make_interval(hours => $2),
         expires_at = now() - make_interval(hours => $2) where id = $1`,
      [id, hours],
    )
  await end(old, 25)
  await end(recent, 23)
  const database = openDatabase(service.databaseUrl, 2)
  await deleteExpiredRows(database, areas).finally(() => database.close())
  const kept = await service.sql('select id from passkey_challenges where id = any($1)', [[old, recent]])
  expect(kept).toEqual([{ id: recent }])
})
