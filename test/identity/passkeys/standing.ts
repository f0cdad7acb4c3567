import { describe, expect, test } from '@jest/globals'
import { areas } from '../../../src/areas.ts'
import { sweep } from '../../../src/kernel/background/sweep.ts'
import { openDatabase } from '../../../src/platform/database.ts'
import { bodyOf } from '../../support/factories.ts'
import type { Manner } from '../../support/identity/authenticator.ts'
import { type Account, anAccount, isActive, service, told, toRevoke } from './service.ts'

/** What comes of asking for the revocation of `one`, signed by `other` in this manner. */
async function attempt({ client, one, other }: Account, manner: Manner = {}): Promise<string> {
  const body = await toRevoke(client, other, one.passkeyId, manner)
  return told(await client.passkeys.revoke({ params: { id: one.passkeyId }, body }))
}

const FAILING = { isVerified: false }

const stateOf = async ({ client, other }: Account) => {
  const { data } = await bodyOf(client.passkeys.list())
  return data.find(({ id }) => id === other.passkeyId)
}

const fail = async (account: Account, times: number): Promise<void> => {
  for (let n = 0; n < times; n++) expect(await attempt(account, FAILING)).toBe('401 assertion_invalid')
}

const blockedEvents = async ({ owner }: Account) =>
  service.sql(`select data from events where owner_id = $1 and event = 'passkey.blocked'`, [owner.ownerId])

describe('five failures in a row', () => {
  test('close a passkey for fifteen minutes, and no message tells', async () => {
    const account = await anAccount()
    await fail(account, 4)
    expect(await stateOf(account)).toMatchObject({ blockedUntil: null })
    await fail(account, 1)
    const { blockedUntil } = (await stateOf(account)) ?? {}
    const minutes = (Date.parse(String(blockedUntil)) - Date.now()) / 60_000
    expect(minutes).toBeGreaterThan(13)
    expect(minutes).toBeLessThan(16)
    expect(await attempt(account)).toBe('401 assertion_invalid')
    expect(await isActive(account, account.one.passkeyId)).toBe(true)
    const { passkeyId, personId } = account.other
    expect(await blockedEvents(account)).toEqual([
      { data: expect.objectContaining({ passkeyId, personId, blockedUntil }) },
    ])
  })

  test('are over after that', async () => {
    const account = await anAccount()
    await fail(account, 5)
    await service.sql(`update passkeys set blocked_until = now() - interval '1 second' where id = $1`, [
      account.other.passkeyId,
    ])
    expect(await attempt(account)).toBe('204')
  })

  test('are none where one between them was good', async () => {
    const account = await anAccount()
    const { client, other } = account
    await fail(account, 4)
    const body = await toRevoke(client, other, other.passkeyId)
    const own = await client.passkeys.revoke({ params: { id: other.passkeyId }, body })
    expect(told(own)).toBe('403 self_revocation')
    await fail(account, 4)
    expect(await attempt(account)).toBe('204')
  })

  test('at once are five', async () => {
    const account = await anAccount()
    await Promise.all(Array.from({ length: 5 }, () => attempt(account, FAILING)))
    expect((await blockedEvents(account)).length).toBe(1)
  })
})

describe('the counter of a device', () => {
  test('that rises is kept, and one that falls or stays is refused', async () => {
    const account = await anAccount()
    const { client, one, other } = account
    const sign = async (counter: number) => {
      const body = await toRevoke(client, one, one.passkeyId, { counter })
      return told(await client.passkeys.revoke({ params: { id: one.passkeyId }, body }))
    }
    const answers = []
    for (const counter of [5, 3, 5, 0, 6, 4_294_967_295]) answers.push(await sign(counter))
    const [refused, counted] = ['401 assertion_invalid', '403 self_revocation']
    expect(answers).toEqual([counted, refused, refused, refused, counted, counted])
    expect(await isActive(account, other.passkeyId)).toBe(true)
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
  await sweep(database, areas).finally(() => database.close())
  const kept = await service.sql('select id from passkey_challenges where id = any($1)', [[old, recent]])
  expect(kept).toEqual([{ id: recent }])
})
