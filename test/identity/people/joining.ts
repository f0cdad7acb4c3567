import { describe, expect, test } from '@jest/globals'
import { times } from '../../support/at-once.ts'
import { bodyOf, type TestClient } from '../../support/factories.ts'
import { Authenticator } from '../../support/identity/authenticator.ts'
import { firstPerson, redeem, type SignedIn } from '../../support/identity/console.ts'
import { assertion, enrol, enrolled, originOf } from '../../support/identity/people.ts'
import { sessionOf, signInBy } from '../../support/identity/sessions.ts'
import { service } from './people-service.ts'

const GRACE = { name: 'Grace Hopper', email: null, role: 'approver' } as const

const { url } = service
const aDevice = () => new Authenticator({ origin: originOf(service) })

/** An account whose owner has a passkey, and a person invited with it. */
async function anInvitation(members: Partial<typeof GRACE> = {}) {
  const account = await service.owner()
  const { client } = account
  const owner = await enrolled(service, account)
  const subject = { ...GRACE, ...members }
  const webauthnAssertion = await assertion(client, owner, { purpose: 'invitation', subject })
  const person = await bodyOf(client.people.create({ body: { ...subject, webauthnAssertion } }))
  return { account, client, owner, person, params: { id: person.id } }
}

/** Enrols the passkey that the link allows. */
const enrolHere = ({ client, personId }: SignedIn, device: Authenticator) => enrol(client, personId, device)

const statusOf = async (client: TestClient, id: string) =>
  (await bodyOf(client.people.get({ params: { id } }))).status

describe('somebody who is invited', () => {
  test('joins by the link, enrols a passkey on it, and signs with that from then on', async () => {
    const { client, person, params } = await anInvitation()
    expect(await statusOf(client, person.id)).toBe('invited')
    const session = await signInBy(url, person.joinUrl)
    expect(session.personId).toBe(person.id)
    expect(await bodyOf(client.people.get({ params }))).toMatchObject({
      status: 'active',
      joinedAt: expect.any(String),
    })
    const device = aDevice()
    const passkeyId = await enrolHere(session, device)
    const { data } = await bodyOf(client.passkeys.list({ query: { personId: person.id } }))
    expect(data).toMatchObject([{ id: passkeyId, enrolledBy: 'console' }])
    const again = await session.client.passkeys.registerOptions({})
    expect(again).toMatchObject({ status: 400, code: 'assertion_required' })
    const events = (await bodyOf(client.events.list())).data.map(({ event }) => event)
    expect(events).toEqual(expect.arrayContaining(['person.joined', 'passkey.enrolled']))
  })

  test('opens the link once: a 410 afterwards', async () => {
    const { person } = await anInvitation()
    const answers = await times(4, () => redeem(url, person.joinUrl))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 410, 410, 410])
    const late = await redeem(url, person.joinUrl)
    expect([late.status, late.headers.get('x-error-code')]).toEqual([410, 'link_used'])
  })

  test('finds it ended after seven days: a 410', async () => {
    const { client, person } = await anInvitation()
    await service.sql(
      `update person_links set expires_at = now() - interval '1 second' where person_id = $1`,
      [person.id],
    )
    const late = await redeem(url, person.joinUrl)
    expect([late.status, late.headers.get('x-error-code')]).toEqual([410, 'link_expired'])
    expect(await statusOf(client, person.id)).toBe('invited')
  })

  test('finds it ended by a newer one: a 410', async () => {
    const { client, owner, person, params } = await anInvitation()
    const webauthnAssertion = await assertion(client, owner, {
      purpose: 'invitation',
      subject: { personId: person.id },
    })
    const { url: newer } = await bodyOf(client.people.link({ params, body: { webauthnAssertion } }))
    expect((await redeem(url, person.joinUrl)).headers.get('x-error-code')).toBe('link_expired')
    expect((await redeem(url, newer)).status).toBe(201)
  })

  test('finds nothing once removed: a 404, whether the link was opened or not', async () => {
    const [opened, unopened] = [await anInvitation(), await anInvitation()]
    await signInBy(url, opened.person.joinUrl)
    for (const { client, person, params } of [opened, unopened]) {
      await bodyOf(client.people.remove({ params }))
      const late = await redeem(url, person.joinUrl)
      expect([late.status, late.headers.get('x-error-code')]).toEqual([404, 'link_unknown'])
    }
  })

  test('who is removed while opening the link is not in', async () => {
    const { client, person, params } = await anInvitation()
    const [answer] = await Promise.all([redeem(url, person.joinUrl), client.people.remove({ params })])
    expect([201, 404]).toContain(answer.status)
    expect(await statusOf(client, person.id)).toBe('removed')
    const open = await service.sql(
      'select id from console_sessions where person_id = $1 and revoked_at is null',
      [person.id],
    )
    expect(open).toEqual([])
  })

  test('opens nothing while the account is suspended', async () => {
    const { account, person } = await anInvitation()
    const change = (status: 'suspended' | 'active') =>
      bodyOf(service.dash.customers.update({ params: { id: account.ownerId }, body: { status } }))
    await change('suspended')
    expect((await redeem(url, person.joinUrl)).status).toBe(404)
    await change('active')
    expect((await redeem(url, person.joinUrl)).status).toBe(201)
  })
})

describe('a person in the console', () => {
  test('who is an owner invites with a passkey of their own, and no other', async () => {
    const account = await service.owner()
    const first = await enrolled(service, account)
    const other = await enrolled(service, account, { by: first })
    const { client } = await sessionOf(service, first)
    const invite = (webauthnAssertion?: Awaited<ReturnType<typeof assertion>>) =>
      client.people.create({ body: { ...GRACE, ...(webauthnAssertion && { webauthnAssertion }) } })
    const ask = { purpose: 'invitation', subject: GRACE } as const
    expect(await invite()).toMatchObject({ status: 400, code: 'assertion_required' })
    expect(await invite(await assertion(client, other, ask))).toMatchObject({
      status: 401,
      code: 'assertion_invalid',
    })
    expect((await invite(await assertion(client, first, ask))).status).toBe(201)
  })

  test('lowers roles and removes people as an owner, without a signature', async () => {
    const account = await service.owner()
    const first = await enrolled(service, account)
    const approver = await enrolled(service, account, { by: first, role: 'approver' })
    const { client } = await sessionOf(service, first)
    const params = { id: approver.personId }
    const refused = await client.people.update({ params, body: { role: 'owner' } })
    expect([refused.status, refused.code]).toEqual([400, 'assertion_required'])
    expect((await client.people.update({ params, body: { role: 'viewer' } })).body.role).toBe('viewer')
    expect((await client.people.remove({ params })).status).toBe(200)
  })

  test('lists people as an approver, and cannot invite or remove them', async () => {
    const { person } = await anInvitation()
    const { client, personId } = await signInBy(url, person.joinUrl)
    expect((await client.people.list()).status).toBe(200)
    const params = { id: personId }
    for (const answer of [
      await client.people.create({ body: GRACE }),
      await client.people.link({ params }),
      await client.people.update({ params, body: { role: 'owner' } }),
      await client.people.remove({ params }),
    ])
      expect(answer).toMatchObject({ status: 403, code: 'missing_scope' })
  })

  test('has the rights of another role at once', async () => {
    const { client, owner, person, params } = await anInvitation()
    const session = await signInBy(url, person.joinUrl)
    const create = () => session.client.agents.create({ body: { name: 'Reader' } })
    expect((await create()).code).toBe('missing_scope')
    const webauthnAssertion = await assertion(client, owner, {
      purpose: 'invitation',
      subject: { personId: person.id, role: 'owner' },
    })
    await bodyOf(client.people.update({ params, body: { role: 'owner', webauthnAssertion } }))
    expect((await create()).status).toBe(201)
  })

  test('is out at once when removed', async () => {
    const { client, person, params } = await anInvitation()
    const session = await signInBy(url, person.joinUrl)
    expect((await session.client.people.list()).status).toBe(200)
    await bodyOf(client.people.remove({ params }))
    expect((await session.client.people.list()).status).toBe(401)
  })

  test('stops a recovery, whatever the role', async () => {
    const { client, owner, person } = await anInvitation()
    const session = await signInBy(url, person.joinUrl)
    await service.sql(`update people set role = 'viewer' where id = $1`, [person.id])
    const params = { id: owner.personId }
    await bodyOf(service.dash.people.recover({ params }))
    expect((await session.client.people.stopRecovery({ params })).status).toBe(200)
    const [row] = await service.sql('select stopped_by from recoveries where person_id = $1', [
      owner.personId,
    ])
    expect(row).toEqual({ stopped_by: { type: 'console', id: person.id, name: 'Grace Hopper' } })
    expect((await bodyOf(client.people.get({ params }))).recovery).toBeNull()
  })
})

describe('the first person of an account', () => {
  test('joins as an owner by a link without a person, and enrolls the first passkey', async () => {
    const { client } = await service.owner()
    const session = await firstPerson(url, client)
    const device = aDevice()
    await enrolHere(session, device)
    expect(await statusOf(client, session.personId)).toBe('active')
    const body = {
      ...GRACE,
      webauthnAssertion: await assertion(client, { device }, { purpose: 'invitation', subject: GRACE }),
    }
    expect((await session.client.people.create({ body })).status).toBe(201)
  })
})
