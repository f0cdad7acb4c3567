import { beforeAll, describe, expect, test } from '@jest/globals'
import { newId } from '../../../src/values/ids.ts'
import { bodyOf, type TestClient } from '../../support/factories.ts'
import type { Owner } from '../../support/harness.ts'
import { Authenticator } from '../../support/identity/authenticator.ts'
import { signedInTo } from '../../support/identity/console.ts'
import { aPerson, assertion, type Enrolled, enrolled } from '../../support/identity/people.ts'
import { anAccount, ORIGIN as origin, service, told, toRevoke } from './service.ts'

describe('in the console', () => {
  let owner: Owner<never>
  let ada: Enrolled
  let ben: Enrolled
  const sessions = new Map<string, TestClient>()
  beforeAll(async () => {
    const account = await service.owner()
    owner = account as never
    ada = await enrolled(service, account)
    ben = await enrolled(service, account, { by: ada, role: 'approver' })
    for (const { personId } of [ada, ben])
      sessions.set(personId, (await signedInTo(service, account, { personId })).client)
  })

  const as = ({ personId }: Pick<Enrolled, 'personId'>): TestClient => sessions.get(personId) as TestClient

  test('lets people other than owners rename and revoke only their own passkeys', async () => {
    const params = { id: ada.passkeyId }
    expect(told(await as(ben).passkeys.rename({ params, body: { name: 'Mine' } }))).toBe(
      '403 not_passkey_owner',
    )
    expect(told(await as(ben).passkeys.revoke({ params }))).toBe('403 not_passkey_owner')
    const own = await as(ben).passkeys.rename({ params: { id: ben.passkeyId }, body: { name: 'Mine' } })
    expect(told(own)).toBe('200')
    const enrolling = await as(ben).passkeys.registerOptions({ body: { personId: ada.personId } })
    expect(told(enrolling)).toBe('403 not_passkey_owner')
  })

  test('a person enrols a further device by the one that is there, without being named', async () => {
    const webauthnAssertion = await assertion(as(ben), ben, { purpose: 'enrolment' })
    const begun = await bodyOf(as(ben).passkeys.registerOptions({ body: { webauthnAssertion } }))
    const registration = new Authenticator({ origin }).register(begun.options)
    const body = { challengeId: begun.challengeId, name: 'Tablet', registration }
    expect(await bodyOf(as(ben).passkeys.registerVerify({ body }))).toMatchObject({
      personId: ben.personId,
      enrolledBy: 'console',
      name: 'Tablet',
    })
  })

  test('refuses a signature by another person’s passkey', async () => {
    const webauthnAssertion = await assertion(as(ben), ada, { purpose: 'enrolment' })
    const answer = await as(ben).passkeys.registerOptions({ body: { webauthnAssertion } })
    expect(told(answer)).toBe('401 assertion_invalid')
  })

  test('lets an owner revoke another person’s passkey with their own', async () => {
    const cleo = await enrolled(service, ada.owner, { by: ada, role: 'viewer' })
    const body = await toRevoke(as(ada), ada, cleo.passkeyId)
    expect(told(await as(ada).passkeys.revoke({ params: { id: cleo.passkeyId }, body }))).toBe('204')
  })

  test('who has come by a link of signing in needs a passkey that is enrolled', async () => {
    const { id } = await aPerson(service, owner, { role: 'viewer' })
    const { client } = await signedInTo(service, owner, { personId: id })
    expect(told(await client.passkeys.registerOptions({ body: {} }))).toBe('400 assertion_required')
  })
})

const GRANT = `
insert into enrolment_grants (owner_id, mode, id, created_at, updated_at, person_id, session_id, kind, expires_at)
values ($1, 'test', $2, now(), now(), $3, $4, $5, now() + interval '1 hour')`

/** A person whose session may enrol a passkey, as after such a link. */
async function withGrant(ownerId: string, kind: 'join' | 'recovery') {
  const { personId, sessionId, client } = await signedInTo(service, { ownerId }, { role: 'approver' })
  await service.sql(GRANT, [ownerId, newId('grant'), personId, sessionId, kind])
  const enrolOne = async (): Promise<string> => {
    const begun = await client.passkeys.registerOptions({ body: {} })
    if (begun.error !== undefined) return told(begun)
    const { challengeId, options } = begun.body
    const registration = new Authenticator({ origin }).register(options)
    return told(await client.passkeys.registerVerify({ body: { challengeId, registration } }))
  }
  return { personId, enrolOne }
}

describe('who has come by the link', () => {
  test.each(['join', 'recovery'] as const)('of a %s enrols one passkey without another', async kind => {
    const { owner } = await anAccount()
    const { enrolOne } = await withGrant(owner.ownerId, kind)
    expect([await enrolOne(), await enrolOne()]).toEqual(['201', '400 assertion_required'])
  })

  test('enrols one there, and neither in another session nor by a key', async () => {
    const { owner, client } = await anAccount()
    const { personId, enrolOne } = await withGrant(owner.ownerId, 'join')
    const elsewhere = await signedInTo(service, owner, { personId })
    const others = [
      await elsewhere.client.passkeys.registerOptions({ body: {} }),
      await client.passkeys.registerOptions({ body: { personId } }),
    ]
    expect([...others.map(told), await enrolOne()]).toEqual([
      '400 assertion_required',
      '400 assertion_required',
      '201',
    ])
  })

  test('enrols one of two that are made at once', async () => {
    const { owner } = await anAccount()
    const { enrolOne } = await withGrant(owner.ownerId, 'join')
    const answers = await Promise.all([enrolOne(), enrolOne(), enrolOne()])
    expect(answers.filter(answer => answer === '201')).toHaveLength(1)
  })

  test('of a recovery, and of no invitation, enrols one when the last one of the account is revoked', async () => {
    const owner = await service.owner()
    const { passkeyId } = await enrolled(service, owner)
    const [joining, recovering] = [
      await withGrant(owner.ownerId, 'join'),
      await withGrant(owner.ownerId, 'recovery'),
    ]
    await owner.client.passkeys.revoke({ params: { id: passkeyId } })
    expect([await joining.enrolOne(), await recovering.enrolOne()]).toEqual(['403 recovery_needed', '201'])
  })
})
