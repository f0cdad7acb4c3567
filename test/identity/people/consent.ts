import { beforeAll, describe, expect, test } from '@jest/globals'
import { times } from '../../support/at-once.ts'
import { bodyOf, type TestClient } from '../../support/factories.ts'
import { assertion, type Enrolled, enrolled } from '../../support/identity/people.ts'
import { service } from './people-service.ts'

const ADA = { name: 'Ada Lovelace', email: null, role: 'approver' } as const

describe('once an account has had a passkey', () => {
  let account: Awaited<ReturnType<typeof service.owner>>
  let client: TestClient
  let owner: Enrolled
  let approver: Enrolled
  beforeAll(async () => {
    account = await service.owner()
    client = account.client
    owner = await enrolled(service, account)
    approver = await enrolled(service, account, { role: 'approver', by: owner })
  })

  const invite = (members: object, webauthnAssertion?: object) =>
    client.people.create({
      body: { ...ADA, ...members, ...(webauthnAssertion && { webauthnAssertion }) } as never,
    })
  const toInvite = (by: Enrolled, members: object = {}) =>
    assertion(client, by, { purpose: 'invitation', subject: { ...ADA, ...members } })

  test('refuses a key invitations, links and role changes without a signature', async () => {
    const params = { id: approver.personId }
    for (const answer of [
      await invite({}),
      await client.people.link({ params }),
      await client.people.update({ params, body: { role: 'owner' } }),
    ])
      expect(answer).toMatchObject({ status: 400, code: 'assertion_required' })
    expect((await bodyOf(client.people.get({ params }))).role).toBe('approver')
  })

  test('a key invites with the passkey of an owner along, once', async () => {
    const consent = await toInvite(owner)
    expect((await invite({}, consent)).status).toBe(201)
    expect(await invite({}, consent)).toMatchObject({ status: 400, code: 'challenge_used' })
  })

  test('of two who use one assertion at once, one invites', async () => {
    const consent = await toInvite(owner)
    const answers = await times(4, () => invite({}, consent))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400])
    expect(new Set(answers.map(({ code }) => code))).toEqual(new Set([undefined, 'challenge_used']))
  })

  test.each([
    ['another name', { name: 'Eve' }],
    ['an email', { email: 'eve@example.com' }],
    ['another role', { role: 'owner' }],
  ])('what an owner has signed does not count for %s', async (_, other) => {
    const before = (await bodyOf(client.people.list())).data.length
    const consent = await toInvite(owner)
    expect(await invite(other, consent)).toMatchObject({ status: 400, code: 'statement_outdated' })
    expect(await invite({}, consent)).toMatchObject({ status: 400, code: 'challenge_used' })
    expect((await bodyOf(client.people.list())).data).toHaveLength(before)
  })

  test('the passkey of an approver does not count', async () => {
    const answer = await invite({}, await toInvite(approver))
    expect(answer).toMatchObject({ status: 403, code: 'insufficient_role' })
  })

  test('the passkey of another account does not count', async () => {
    const other = await service.owner()
    const stranger = await enrolled(service, other)
    const consent = await toInvite(owner)
    const { options } = await bodyOf(
      client.passkeys.challenge({ body: { purpose: 'invitation', subject: ADA } }),
    )
    const forged = { ...consent, assertion: stranger.device.assert(options) }
    expect(await invite({}, forged)).toMatchObject({ status: 401, code: 'assertion_invalid' })
  })

  test('a refusal uses the assertion up', async () => {
    const email = 'taken@example.com'
    await bodyOf(client.people.update({ params: { id: approver.personId }, body: { email } }))
    const consent = await toInvite(owner, { email })
    expect(await invite({ email }, consent)).toMatchObject({ status: 400, code: 'email_taken' })
    expect(await invite({ email }, consent)).toMatchObject({ status: 400, code: 'challenge_used' })
  })

  test('a new link takes the consent of an owner to a link of this person', async () => {
    const params = { id: approver.personId }
    const toLink = (personId: string) =>
      assertion(client, owner, { purpose: 'invitation', subject: { personId } })
    const link = async (personId: string) =>
      client.people.link({ params, body: { webauthnAssertion: await toLink(personId) } })
    expect(await link(owner.personId)).toMatchObject({ status: 400, code: 'statement_outdated' })
    // An identity provider may let in who proves the email, so the owner signs it, too.
    const webauthnAssertion = await toLink(approver.personId)
    await bodyOf(client.people.update({ params, body: { email: 'thief@example.com' } }))
    expect(await client.people.link({ params, body: { webauthnAssertion } })).toMatchObject({
      status: 400,
      code: 'statement_outdated',
    })
    const { sentence } = await bodyOf(
      client.passkeys.challenge({
        body: { purpose: 'invitation', subject: { personId: approver.personId } },
      }),
    )
    expect(sentence).toContain('“thief@example.com”')
    expect(await link(approver.personId)).toMatchObject({
      status: 201,
      body: { kind: 'join', personId: approver.personId },
    })
  })

  test('a key gives another role with the consent of an owner to this role', async () => {
    const { id } = await bodyOf(invite({}, await toInvite(owner)))
    const toRole = (role: 'owner' | 'viewer') =>
      assertion(client, owner, { purpose: 'invitation', subject: { personId: id, role } })
    const change = async (role: 'owner' | 'viewer', consent: object) =>
      client.people.update({ params: { id }, body: { role, webauthnAssertion: consent as never } })
    expect(await change('owner', await toRole('viewer'))).toMatchObject({
      status: 400,
      code: 'statement_outdated',
    })
    expect(await change('viewer', await toRole('viewer'))).toMatchObject({
      status: 200,
      body: { role: 'viewer' },
    })
  })

  test('lets a key change a name or an email and remove a person without a signature', async () => {
    const { id } = await bodyOf(invite({}, await toInvite(owner)))
    const body = { name: 'Augusta Ada', email: 'ada@example.com', role: 'approver' } as const
    expect((await client.people.update({ params: { id }, body })).status).toBe(200)
    expect((await client.people.remove({ params: { id } })).status).toBe(200)
  })

  test('refuses an invitation if the signer is no longer an owner', async () => {
    const second = await enrolled(service, account, { by: owner })
    const consent = await toInvite(second)
    await service.sql(`update people set role = 'approver' where id = $1`, [second.personId])
    expect(await invite({}, consent)).toMatchObject({ status: 403, code: 'insufficient_role' })
  })
})

describe('before an account has a passkey', () => {
  test('refuses a key to grant rights that it lacks', async () => {
    const account = await service.owner()
    const { key } = await bodyOf(
      account.client.keys.create({
        body: {
          name: 'People only',
          environment: 'sandbox',
          scopes: ['people:write', 'people:read', 'console:write', 'passkeys:write'],
        },
      }),
    )
    const narrow = service.client(String(key))
    const { id } = await bodyOf(account.client.people.create({ body: { ...ADA, role: 'owner' } }))
    for (const answer of [
      await narrow.people.create({ body: { ...ADA, role: 'owner' } }),
      await narrow.people.create({ body: { ...ADA, role: 'viewer' } }),
      await narrow.people.link({ params: { id } }),
      await narrow.people.update({ params: { id }, body: { role: 'approver' } }),
      await narrow.console.createLink({ body: { personId: id } }),
    ])
      expect(answer).toMatchObject({ status: 403, code: 'scope_not_held' })
    expect((await bodyOf(account.client.people.list())).data).toHaveLength(1)
  })
})
