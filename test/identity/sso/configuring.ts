import { describe, expect, test } from '@jest/globals'
import { anAgentUnder, bodyOf } from '../../support/factories.ts'
import { http } from '../../support/harness.ts'
import { FROM_OUR_PAGE, signedInTo } from '../../support/identity/console.ts'
import { CLIENT_SECRET } from '../../support/identity/openid-provider.ts'
import { enrolled, linkedChallenge, signed } from '../../support/identity/people.ts'
import { traceOf } from '../../support/trace.ts'
import {
  anOwnerWithSso,
  aProvider,
  codeIn,
  configurationOf,
  invite,
  service,
  signIn,
  url,
} from './sso-service.ts'

describe('an identity provider', () => {
  test('is added with the addresses that it needs, and never shows its secret', async () => {
    const provider = await aProvider()
    const { client, ownerId } = await service.owner()
    const answer = await client.sso.create({ body: configurationOf(provider), idempotencyKey: 'sso-1' })
    const { id } = answer.body
    expect(answer.body).toMatchObject({
      ownerId,
      issuer: provider.issuer,
      groupsClaim: 'groups',
      clientAuthentication: 'client_secret',
    })
    for (const [address, path] of [
      [answer.body.signInUrl, `/login?sso=${id}`],
      [answer.body.redirectUri, `/sso/${id}/callback`],
      [answer.body.jwksUri, `/sso/${id}/jwks`],
    ] as const)
      expect(address.endsWith(path)).toBe(true)
    expect(await traceOf(service, answer)).toMatchObject({ events: ['sso_provider.created'] })
    const stored = await service.sql('select * from sso_providers where owner_id = $1', [ownerId])
    const kept = await service.sql('select * from idempotency_keys where owner_id = $1', [ownerId])
    const shown = [
      answer.body,
      (await client.sso.list()).body,
      (await client.events.list()).body,
      stored,
      kept,
    ]
    expect(JSON.stringify(shown)).not.toContain(CLIENT_SECRET)
  })

  test('is completed with the client ID that it gives, and signs no one in before', async () => {
    const owner = await anOwnerWithSso({ clientId: null, clientSecret: null })
    const start = () => http(url, 'POST', `/sso/${owner.id}/start`, { headers: FROM_OUR_PAGE, body: {} })
    expect(codeIn(await start())).toEqual([400, 'provider_incomplete'])
    const changed = await owner.client.sso.update({
      params: { id: owner.id },
      body: { clientId: 'agent-payments', clientSecret: CLIENT_SECRET, name: 'Example' },
    })
    expect(changed.body).toMatchObject({ clientId: 'agent-payments', clientAuthentication: 'client_secret' })
    const [event] = (await owner.client.events.list()).body.data
    expect(event).toMatchObject({
      event: 'sso_provider.updated',
      data: { changed: ['name', 'clientId', 'clientSecret'] },
    })
    await invite(owner)
    expect((await signIn(owner)).status).toBe(201)
  })

  test('is one of five, with an issuer of its own', async () => {
    const owner = await anOwnerWithSso()
    const add = async (issuer?: string) => {
      const body = configurationOf(issuer === undefined ? await aProvider() : { issuer })
      const { status, code } = await owner.client.sso.create({ body })
      return [status, code]
    }
    expect(await add(owner.provider.issuer)).toEqual([400, 'issuer_taken'])
    for (let n = 1; n < 5; n++) expect((await add())[0]).toBe(201)
    expect(await add()).toEqual([400, 'too_many_providers'])
  })

  test('takes the passkey of an owner, who signs issuer, client and groups', async () => {
    const provider = await aProvider()
    const owner = await service.owner()
    const signer = await enrolled(service, owner)
    const body = configurationOf(provider, { ownerGroups: ['admins'] })
    const { client } = owner
    expect(await client.sso.create({ body })).toMatchObject({ code: 'assertion_required' })
    const consentTo = async (subject: object) => {
      const challenge = await bodyOf(
        client.passkeys.challenge({ body: { purpose: 'invitation', subject: subject as never } }),
      )
      return { sentence: challenge.sentence, webauthnAssertion: signed(challenge, signer.device) }
    }
    const { issuer, clientId, ownerGroups } = body
    const less = await consentTo({ issuer, clientId })
    const refused = await client.sso.create({ body: { ...body, webauthnAssertion: less.webauthnAssertion } })
    expect(refused).toMatchObject({ code: 'statement_outdated' })
    const { sentence, webauthnAssertion } = await consentTo({ issuer, clientId, ownerGroups })
    expect(sentence).toBe(
      `Let invited people sign in with the identity provider “${issuer}”, where this service is “agent-payments”, with roles by the groups in “groups”: owner for “admins”.`,
    )
    const { id } = await bodyOf(client.sso.create({ body: { ...body, webauthnAssertion } }))
    const update = (changes: object) => client.sso.update({ params: { id }, body: changes })
    expect((await update({ name: 'Renamed' })).status).toBe(200)
    for (const changes of [{ clientSecret: 'another' }, { clientId: 'x' }, { approverGroups: ['everyone'] }])
      expect(await update(changes)).toMatchObject({ code: 'assertion_required' })
    const change = await consentTo({ providerId: id, approverGroups: ['everyone'] })
    expect(change.sentence).toContain('owner for “admins”; approver for “everyone”')
    const changed = await update({
      approverGroups: ['everyone'],
      webauthnAssertion: change.webauthnAssertion,
    })
    expect(changed.body).toMatchObject({ ownerGroups: ['admins'], approverGroups: ['everyone'] })
  })

  test('is configured by as many people as a policy with steps asks', async () => {
    const owner = await service.owner()
    const { client } = owner
    const ada = await enrolled(service, owner)
    const bob = await enrolled(service, owner, { by: ada })
    const step = { aboveEuros: 20, of: 'owners', need: 2, withinMinutes: 60, then: 'deny' } as const
    await anAgentUnder(client, { approval: [step] })
    const consentTo = async (subject: object) =>
      signed(
        await bodyOf(
          client.passkeys.challenge({ body: { purpose: 'invitation', subject: subject as never } }),
        ),
        ada.device,
      )
    const body = configurationOf(await aProvider())
    const { issuer, clientId } = body
    const whole = { ...body, webauthnAssertion: await consentTo({ issuer, clientId }) }
    expect(await client.sso.create({ body: whole })).toMatchObject({ code: 'client_needs_approvals' })
    const { id } = await bodyOf(
      client.sso.create({
        body: { ...body, clientId: null, webauthnAssertion: await consentTo({ issuer, clientId: null }) },
      }),
    )
    const changes = { clientId: 'agent-payments', ownerGroups: ['admins'] }
    const webauthnAssertion = await consentTo({ providerId: id, ...changes })
    const held = await client.sso.update({ params: { id }, body: { ...changes, webauthnAssertion } })
    expect(held).toMatchObject({
      status: 202,
      body: { operation: 'sso.update', changes: [{ field: 'Client' }, { field: 'Groups of owners' }] },
    })
    const params = { id: held.body.id }
    const asked = await client.changeRequests.approve({ params, body: { personId: bob.personId } })
    const approval = { webauthnAssertion: signed(await linkedChallenge(client, asked), bob.device) }
    expect(await bodyOf(client.changeRequests.approve({ params, body: approval }))).toMatchObject({
      status: 'applied',
    })
    expect(await bodyOf(client.sso.get({ params: { id } }))).toMatchObject(changes)
  })

  test('is changed and removed by owners only', async () => {
    const owner = await anOwnerWithSso()
    const { client } = await signedInTo(service, owner, { role: 'approver' })
    expect((await client.sso.list()).body.data).toHaveLength(1)
    const params = { id: owner.id }
    for (const { status } of [
      await client.sso.update({ params, body: { name: 'Mine' } }),
      await client.sso.remove({ params }),
      await client.sso.create({ body: configurationOf(await aProvider()) }),
    ])
      expect(status).toBe(403)
  })

  test('of another owner is unknown', async () => {
    const [one, other] = [await anOwnerWithSso(), await service.owner()]
    const params = { id: one.id }
    for (const { code } of [
      await other.client.sso.get({ params }),
      await other.client.sso.update({ params, body: { name: 'Mine' } }),
      await other.client.sso.remove({ params }),
    ])
      expect(code).toBe('provider_not_found')
  })
})

describe('the sign-in page', () => {
  const page = async (query: string, language = 'en') =>
    (
      await fetch(`${url.replace('127.0.0.1', 'localhost')}/login${query}`, {
        headers: { 'accept-language': language },
      })
    ).text()

  test('offers the provider of the link, and says where the person continues', async () => {
    const { id, provider } = await anOwnerWithSso({ name: '<b>Example & Co' })
    const text = await page(`?sso=${id}`)
    expect(text).toContain('Sign in with &lt;b&gt;Example &amp; Co')
    expect(text).toContain(new URL(provider.issuer).host)
    expect(text).toContain('Sign in with a passkey')
    expect(await page(`?sso=${id}`, 'de')).toContain('Mit &lt;b&gt;Example &amp; Co anmelden')
  })

  test('offers the passkey only, without a link or with an unknown one', async () => {
    for (const query of ['', '?sso=ssoprovider_01jd8x2m4ye7k9v0c3q5r6t8wz']) {
      const text = await page(query)
      expect(text).toContain('Sign in with a passkey')
      expect(text).not.toContain('data-provider')
    }
  })
})
