import { describe, expect, test } from '@jest/globals'
import { signatureOver } from '../../support/control/approvals.ts'
import { aFundedAgent, anAgentUnder, anIntent, bodyOf } from '../../support/factories.ts'
import { Authenticator } from '../../support/identity/authenticator.ts'
import { redeem, signedInBy } from '../../support/identity/console.ts'
import { aSigningKey } from '../../support/identity/openid-provider.ts'
import { aPerson, enrol, enrolled, pagesOrigin, signed } from '../../support/identity/people.ts'
import { traceOf } from '../../support/trace.ts'
import {
  anOwnerWithSso,
  begin,
  codeIn,
  finish,
  GRACE,
  invite,
  type OwnerWithSso,
  service,
  signIn,
  url,
} from './sso-service.ts'

const by = async (owner: OwnerWithSso) => signedInBy(url, await signIn(owner))

describe('a person who is invited', () => {
  test('joins with the identity provider, which uses up the invitation', async () => {
    const owner = await anOwnerWithSso()
    const { id: personId, joinUrl } = await invite(owner)
    const answer = await signIn(owner)
    expect([answer.status, answer.body]).toMatchObject([
      201,
      { kind: 'join', personId, role: 'approver', passkeyId: null, ssoProviderId: owner.id, isCurrent: true },
    ])
    expect(await traceOf(service, answer)).toMatchObject({
      events: ['person.joined', 'sso_provider.linked', 'console.signed_in'],
      actions: ['sso.signIn'],
    })
    expect(codeIn(await redeem(url, joinUrl))).toEqual([410, 'link_used'])
    expect((await bodyOf(owner.client.people.get({ params: { id: personId } }))).status).toBe('active')
    const again = await signIn(owner, { sub: 'grace' })
    expect(again.body).toMatchObject({ kind: 'sign_in', personId })
  })

  test('cannot approve without a passkey, and creates one after joining, as after a link', async () => {
    const owner = await anOwnerWithSso()
    await invite(owner)
    const first = await enrolled(service, owner)
    const { id: agentId } = await aFundedAgent(owner.client)
    const { id } = await anIntent(owner.client, agentId)
    const { client, personId } = await by(owner)
    const approve = (body: object) => client.intents.approve({ params: { id }, body })
    expect(await approve({})).toMatchObject({ code: 'attestation_required' })
    const later = await by(owner)
    expect(await later.client.passkeys.registerOptions({ body: {} })).toMatchObject({
      code: 'assertion_required',
    })
    const device = new Authenticator({ origin: await pagesOrigin(service) })
    await enrol(client, personId, device)
    const webauthnAssertion = await signatureOver(later.client, id, { device })
    expect(await later.client.intents.approve({ params: { id }, body: { webauthnAssertion } })).toMatchObject(
      {
        status: 200,
      },
    )
    expect(first.personId).not.toBe(personId)
  })
})

describe('groups', () => {
  const roles = { ownerGroups: ['admins'], approverGroups: ['payments'], viewerGroups: ['everyone'] }

  test('give the highest role, and change it at the next sign-in', async () => {
    const owner = await anOwnerWithSso(roles)
    await invite(owner, 'viewer')
    const roleWith = async (groups?: unknown) =>
      (await signIn(owner, { ...GRACE, ...(groups !== undefined && { groups }) })).body.role
    expect(await roleWith(['everyone', 'payments'])).toBe('approver')
    expect(await roleWith(['admins', 'payments'])).toBe('owner')
    expect(await roleWith(['everyone'])).toBe('viewer')
    expect(await roleWith(['payments'])).toBe('approver')
    const changes = (await owner.client.events.list({ query: { event: 'person.updated' } })).body.data
    expect(changes.map(({ data }) => data.role)).toEqual(['approver', 'viewer', 'owner', 'approver'])
  })

  test('without a role leave the one of the invitation, or give it back', async () => {
    const owner = await anOwnerWithSso(roles)
    await invite(owner, 'approver')
    expect((await signIn(owner, { ...GRACE, groups: ['others'] })).body.role).toBe('approver')
    expect((await signIn(owner, { ...GRACE, groups: ['admins'] })).body.role).toBe('owner')
    owner.provider.userinfo = { ...GRACE, groups: [] }
    expect((await signIn(owner)).body.role).toBe('approver')
  })

  test('give back no role that an owner has taken meanwhile', async () => {
    const owner = await anOwnerWithSso(roles)
    const { id } = await invite(owner, 'approver')
    await signIn(owner, { ...GRACE, groups: ['payments'] })
    await bodyOf(owner.client.people.update({ params: { id }, body: { role: 'viewer' } }))
    expect((await signIn(owner, { ...GRACE, groups: [] })).body.role).toBe('viewer')
  })

  test('that the userinfo endpoint does not answer sign no one in', async () => {
    const owner = await anOwnerWithSso(roles)
    await invite(owner, 'approver')
    expect((await signIn(owner, { ...GRACE, groups: ['everyone'] })).body.role).toBe('viewer')
    expect(codeIn(await signIn(owner))).toEqual([504, 'provider_silent'])
  })

  const elsewhere = { _claim_names: { groups: 'src1' }, _claim_sources: { src1: { endpoint: '/groups' } } }

  test.each<[string, object]>([
    ['are missing', {}],
    ['are at another address, as Microsoft Entra ID sends more than 200', elsewhere],
    ['are at another address, beside an empty list', { ...elsewhere, groups: [] }],
    ['are null', { groups: null }],
    ['are an empty text', { groups: '' }],
    ['are one text', { groups: 'everyone' }],
    ['are objects', { groups: [{ name: 'everyone' }] }],
    ['are in part no texts', { groups: ['everyone', 7] }],
    ['are a list in a list', { groups: [['everyone']] }],
    ['are an object', { groups: { everyone: true } }],
  ])('that %s sign no one in: without them, the role could be higher', async (_, groups) => {
    const owner = await anOwnerWithSso(roles)
    owner.provider.userinfo = GRACE
    const { id } = await invite(owner, 'owner')
    const unreadable = { ...GRACE, ...groups }
    // The invitation stays open.
    expect(codeIn(await signIn(owner, unreadable))).toEqual([403, 'groups_unreadable'])
    expect((await signIn(owner, { ...GRACE, groups: ['everyone'] })).body).toMatchObject({
      kind: 'join',
      role: 'viewer',
    })
    expect(codeIn(await signIn(owner, unreadable))).toEqual([403, 'groups_unreadable'])
    expect((await bodyOf(owner.client.people.get({ params: { id } }))).role).toBe('viewer')
  })

  test('are all read, however many there are', async () => {
    const owner = await anOwnerWithSso(roles)
    await invite(owner, 'owner')
    const groups = [...Array.from({ length: 1_200 }, (_, n) => `g${n}`), 'everyone']
    expect((await signIn(owner, { ...GRACE, groups })).body.role).toBe('viewer')
  })

  test('that are configured while a person signs in are read at the next sign-in', async () => {
    const owner = await anOwnerWithSso()
    await invite(owner, 'owner')
    const { id } = owner
    const { sign } = owner.provider
    owner.provider.sign = async claims => {
      await bodyOf(owner.client.sso.update({ params: { id }, body: { viewerGroups: ['everyone'] } }))
      return sign(claims)
    }
    expect(codeIn(await signIn(owner))).toEqual([403, 'groups_unreadable'])
    owner.provider.sign = sign
    expect((await signIn(owner, { ...GRACE, groups: ['everyone'] })).body.role).toBe('viewer')
  })

  test('by which a step asks the person end a link that one owner had made', async () => {
    const owner = await anOwnerWithSso(roles)
    const { client } = owner
    const { id: personId } = await invite(owner, 'viewer')
    await signIn(owner, { ...GRACE, groups: ['everyone'] })
    const boss = await enrolled(service, owner)
    await enrolled(service, owner, { by: boss })
    const step = { aboveEuros: 20, of: 'approvers', need: 2, withinMinutes: 60, then: 'deny' } as const
    await anAgentUnder(client, { approval: [step] })
    const challenge = await bodyOf(
      client.passkeys.challenge({ body: { purpose: 'invitation', subject: { personId } } }),
    )
    const link = await bodyOf(
      client.people.link({
        params: { id: personId },
        body: { webauthnAssertion: signed(challenge, boss.device) },
      }),
    )
    const raised = await signIn(owner, { ...GRACE, groups: ['payments'] })
    expect(raised.body.role).toBe('approver')
    expect(codeIn(await redeem(url, link.url))).toEqual([410, 'link_expired'])
  })

  test('of another claim than the owner has named meanwhile are not read', async () => {
    const owner = await anOwnerWithSso(roles)
    await invite(owner, 'viewer')
    const { id } = owner
    const { sign } = owner.provider
    owner.provider.sign = async claims => {
      await bodyOf(owner.client.sso.update({ params: { id }, body: { groupsClaim: 'roles' } }))
      return sign(claims)
    }
    const claims = { ...GRACE, groups: ['admins'], roles: ['everyone'] }
    expect(codeIn(await signIn(owner, claims))).toEqual([403, 'groups_unreadable'])
    owner.provider.sign = sign
    expect((await signIn(owner, claims)).body.role).toBe('viewer')
  })

  test('that no role depends on may be missing', async () => {
    const owner = await anOwnerWithSso()
    await invite(owner, 'approver')
    expect((await signIn(owner, { ...GRACE, ...elsewhere })).body.role).toBe('approver')
  })

  test('are read from the claim that the owner names, by its exact name', async () => {
    const owner = await anOwnerWithSso({ ...roles, groupsClaim: 'https://example.com/roles' })
    await invite(owner, 'viewer')
    const claims = { ...GRACE, groups: ['admins'], 'https://example.com/roles': ['payments', 'Admins'] }
    expect((await signIn(owner, claims)).body.role).toBe('approver')
  })

  test('never take the last owner', async () => {
    const owner = await anOwnerWithSso(roles)
    await invite(owner, 'owner')
    const { personId, client } = signedInBy(url, await signIn(owner, { ...GRACE, groups: [] }))
    const device = new Authenticator({ origin: await pagesOrigin(service) })
    await enrol(client, personId, device)
    expect((await signIn(owner, { ...GRACE, groups: ['everyone'] })).body.role).toBe('owner')
    const { id: secondId } = await aPerson(service, owner)
    await enrol(owner.client, secondId, new Authenticator({ origin: await pagesOrigin(service) }), { device })
    expect((await signIn(owner, { ...GRACE, groups: ['everyone'] })).body.role).toBe('viewer')
  })

  test('take from the last owner, once there is another, what they had given', async () => {
    const owner = await anOwnerWithSso(roles)
    await invite(owner, 'viewer')
    const { personId, client } = signedInBy(url, await signIn(owner, { ...GRACE, groups: ['admins'] }))
    const device = new Authenticator({ origin: await pagesOrigin(service) })
    await enrol(client, personId, device)
    expect((await signIn(owner, { ...GRACE, groups: [] })).body.role).toBe('owner')
    const { id: secondId } = await aPerson(service, owner)
    await enrol(owner.client, secondId, new Authenticator({ origin: await pagesOrigin(service) }), { device })
    expect((await signIn(owner, { ...GRACE, groups: [] })).body.role).toBe('viewer')
  })
})

test('a role that the owner takes away is taken from sessions of the identity provider at once', async () => {
  const owner = await anOwnerWithSso()
  const { id } = await invite(owner)
  const { client } = await by(owner)
  await bodyOf(owner.client.people.update({ params: { id }, body: { role: 'viewer' } }))
  expect((await bodyOf(client.console.session())).role).toBe('viewer')
})

test('claims that are not in the ID token come from the userinfo of the same subject', async () => {
  const owner = await anOwnerWithSso({ approverGroups: ['payments'] })
  await invite(owner, 'viewer')
  owner.provider.userinfo = { ...GRACE, sub: 'another', groups: ['payments'] }
  expect(codeIn(await signIn(owner, { sub: 'grace' }))).toEqual([401, 'identity_unproven'])
  owner.provider.userinfo = { ...GRACE, groups: ['payments'] }
  expect((await signIn(owner, { sub: 'grace' })).body).toMatchObject({ kind: 'join', role: 'approver' })
})

test('an email of the ID token is not verified by that of the userinfo', async () => {
  const owner = await anOwnerWithSso()
  await invite(owner)
  owner.provider.userinfo = { sub: 'grace', email: 'other@example.com', email_verified: true }
  expect(codeIn(await signIn(owner, { sub: 'grace', email: GRACE.email }))).toEqual([403, 'not_invited'])
})

test('a client without a secret proves itself with its private key', async () => {
  const owner = await anOwnerWithSso({ clientSecret: null })
  const record = await bodyOf(owner.client.sso.get({ params: { id: owner.id } }))
  expect(record.clientAuthentication).toBe('private_key_jwt')
  await invite(owner)
  owner.provider.clientKeys = `${url}/sso/${owner.id}/jwks`
  expect((await signIn(owner)).status).toBe(201)
  expect(owner.provider.tokenRequests.at(-1)?.get('client_secret')).toBeNull()
  const keys = await (await fetch(owner.provider.clientKeys)).text()
  expect(Object.keys(JSON.parse(keys).keys[0] as object).sort()).toEqual(['e', 'kid', 'kty', 'n', 'use'])
})

test('a rotated key of the identity provider works at once, and the old one no more', async () => {
  const owner = await anOwnerWithSso()
  const { provider } = owner
  await invite(owner)
  expect((await signIn(owner)).status).toBe(201)
  const old = provider.key
  provider.key = await aSigningKey('RS256')
  expect((await signIn(owner)).status).toBe(201)
  provider.sign = claims => provider.signed(claims, old)
  expect(codeIn(await signIn(owner))).toEqual([401, 'identity_unproven'])
})

describe('a session of the identity provider ends', () => {
  test('with the provider, and only its sessions', async () => {
    const owner = await anOwnerWithSso()
    const { joinUrl } = await bodyOf(
      owner.client.people.create({ body: { name: 'Ada', email: null, role: 'viewer' } }),
    )
    const other = signedInBy(url, await redeem(url, joinUrl))
    await invite(owner)
    const { client } = await by(owner)
    const begun = await begin(owner.id)
    const removed = await owner.client.sso.remove({ params: { id: owner.id } })
    expect([removed.status, await traceOf(service, removed)]).toMatchObject([
      204,
      { events: ['console.signed_out', 'sso_provider.removed'] },
    ])
    expect((await client.console.session()).status).toBe(401)
    expect((await other.client.console.session()).status).toBe(200)
    const late = await finish(owner.id, owner.provider.authorize(begun.redirectTo, GRACE), begun)
    expect(codeIn(late)).toEqual([404, 'provider_not_found'])
  })

  test('with the person, whom the provider signs in no more', async () => {
    const owner = await anOwnerWithSso()
    const { id } = await invite(owner)
    const { client } = await by(owner)
    await bodyOf(owner.client.people.remove({ params: { id } }))
    expect((await client.console.session()).status).toBe(401)
    expect(codeIn(await signIn(owner))).toEqual([403, 'not_invited'])
    // A new invitation to the same email is another person.
    const { id: next } = await invite(owner)
    expect((await signIn(owner)).body).toMatchObject({ kind: 'join', personId: next })
  })
})
