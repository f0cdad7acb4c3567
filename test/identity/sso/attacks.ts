import { describe, expect, test } from '@jest/globals'
import { type JWTPayload, SignJWT } from 'jose'
import { bodyOf } from '../../support/factories.ts'
import { FROM_OUR_PAGE, redeem } from '../../support/identity/console.ts'
import { CLIENT_ID } from '../../support/identity/openid-provider.ts'
import {
  anOwnerWithSso,
  aProvider,
  begin,
  codeIn,
  configurationOf,
  finish,
  GRACE,
  invite,
  type OwnerWithSso,
  service,
  signIn,
  url,
} from './sso-service.ts'

const UNKNOWN = [400, 'sign_in_unknown']
const UNPROVEN = [401, 'identity_unproven']
const NOT_INVITED = [403, 'not_invited']

const invited = async (owner?: OwnerWithSso) => {
  const made = owner ?? (await anOwnerWithSso())
  await invite(made)
  return made
}

const base64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const now = (): number => Math.floor(Date.now() / 1_000)

describe('an ID token', () => {
  test.each<[string, (claims: JWTPayload, owner: OwnerWithSso) => Promise<string> | string]>([
    ['without a signature', claims => `${base64({ alg: 'none' })}.${base64(claims)}.`],
    [
      'signed with the public key as a secret',
      (claims, { provider }) =>
        new SignJWT(claims)
          .setProtectedHeader({ alg: 'HS256', kid: String(provider.key.jwk.kid) })
          .sign(Buffer.from(JSON.stringify(provider.key.jwk))),
    ],
    [
      'signed with the client secret',
      claims => new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from('a secret')),
    ],
    [
      'with other content than was signed',
      async (claims, { provider }) => {
        const [head, , signature] = (await provider.signed(claims)).split('.')
        return `${head}.${base64({ ...claims, sub: 'somebody' })}.${signature}`
      },
    ],
    ['for another client', (claims, { provider }) => provider.signed({ ...claims, aud: 'another' })],
    [
      'for several, without the authorized one',
      (claims, { provider }) => provider.signed({ ...claims, aud: [CLIENT_ID, 'another'] }),
    ],
    [
      'for several, authorized for another',
      (claims, { provider }) => provider.signed({ ...claims, aud: [CLIENT_ID, 'another'], azp: 'another' }),
    ],
    [
      'of another issuer',
      (claims, { provider }) => provider.signed({ ...claims, iss: 'https://id.example.com' }),
    ],
    ['with another nonce', (claims, { provider }) => provider.signed({ ...claims, nonce: 'another' })],
    ['without a nonce', ({ nonce: _, ...claims }, { provider }) => provider.signed(claims)],
    ['without an expiry', ({ exp: _, ...claims }, { provider }) => provider.signed(claims)],
    ['without a subject', ({ sub: _, ...claims }, { provider }) => provider.signed(claims)],
    ['with a long subject', (claims, { provider }) => provider.signed({ ...claims, sub: 'x'.repeat(256) })],
    ['whose subject is no text', (claims, { provider }) => provider.signed({ ...claims, sub: 'a\u0000b' })],
    [
      'that expired two minutes ago',
      (claims, { provider }) => provider.signed({ ...claims, exp: now() - 120 }),
    ],
    ['of the future', (claims, { provider }) => provider.signed({ ...claims, iat: now() + 120 })],
    [
      'of long ago, although it is valid',
      (claims, { provider }) => provider.signed({ ...claims, iat: now() - 3_600 }),
    ],
  ])('%s is refused', async (_, forge) => {
    const owner = await invited()
    owner.provider.sign = claims => forge(claims, owner)
    expect(codeIn(await signIn(owner))).toEqual(UNPROVEN)
  })

  test.each([{ $ne: '' }, ['grace'], 7, true, null])('whose subject is %j signs no one in', async sub => {
    const owner = await invited()
    await signIn(owner)
    owner.provider.sign = claims => owner.provider.signed(Object.assign(claims, { sub }))
    const answer = await signIn(owner)
    expect([...codeIn(answer), answer.body.personId]).toEqual([...UNPROVEN, undefined])
  })

  test.each([
    ['expired half a minute ago', () => ({ exp: now() - 30 })],
    ['is from half a minute ahead', () => ({ iat: now() + 30 })],
    ['is for several, and authorized for us', () => ({ aud: [CLIENT_ID, 'another'], azp: CLIENT_ID })],
  ])('that %s is accepted: clocks differ', async (_, changed) => {
    const owner = await invited()
    owner.provider.sign = claims => owner.provider.signed({ ...claims, ...changed() })
    expect((await signIn(owner)).status).toBe(201)
  })
})

describe('an email', () => {
  test.each([
    ['that the provider has not verified', { ...GRACE, email_verified: false }],
    ['of which the provider says nothing', { sub: 'grace', email: GRACE.email }],
    ['in other letters that look the same', { ...GRACE, email: 'grace@e\u0445ample.com' }],
    ['whose lower case is the same', { ...GRACE, email: 'grace@example.com'.replace('e', '\u212a') }],
    ['that is missing', { sub: 'grace', email_verified: true }],
  ])('%s links no one', async (_, claims) => {
    expect(codeIn(await signIn(await invited(), claims))).toEqual(NOT_INVITED)
  })

  test('links no one without an open invitation', async () => {
    const owner = await anOwnerWithSso()
    expect(codeIn(await signIn(owner))).toEqual(NOT_INVITED)
    const { joinUrl, id } = await invite(owner)
    // She has joined by her link, so that the invitation is used.
    expect((await redeem(url, joinUrl)).status).toBe(201)
    expect(codeIn(await signIn(owner))).toEqual(NOT_INVITED)
    await bodyOf(owner.client.people.link({ params: { id } }))
    expect((await signIn(owner)).body).toMatchObject({ kind: 'join', personId: id })
  })

  test('links no one whose invitation has expired or was revoked', async () => {
    const owner = await invited()
    await service.sql(
      `update person_links set expires_at = now() - interval '1 second' where owner_id = $1`,
      [owner.ownerId],
    )
    expect(codeIn(await signIn(owner))).toEqual(NOT_INVITED)
  })

  test('that a key has put in place of the invited one links no one', async () => {
    const owner = await anOwnerWithSso()
    const { id, joinUrl } = await invite(owner, 'owner')
    const THIEF = { sub: 'thief', email: 'thief@example.com', email_verified: true }
    await bodyOf(owner.client.people.update({ params: { id }, body: { email: THIEF.email } }))
    expect(codeIn(await signIn(owner, THIEF))).toEqual(NOT_INVITED)
    expect(codeIn(await redeem(url, joinUrl))).toEqual([410, 'link_expired'])
  })

  test('does not change who a known subject is, and another subject is another person', async () => {
    const owner = await invited()
    const { personId } = (await signIn(owner)).body
    const { id: adaId } = await bodyOf(
      owner.client.people.create({ body: { name: 'Ada', email: 'ada@example.com', role: 'owner' } }),
    )
    const ADA = { sub: 'grace', email: 'ada@example.com', email_verified: true }
    expect((await signIn(owner, ADA)).body).toMatchObject({ kind: 'sign_in', personId })
    expect(codeIn(await signIn(owner, { ...GRACE, sub: 'impostor' }))).toEqual(NOT_INVITED)
    expect((await signIn(owner, { ...ADA, sub: 'ada' })).body).toMatchObject({
      kind: 'join',
      personId: adaId,
    })
  })

  test('of a person of another owner links no one', async () => {
    await invited()
    const other = await anOwnerWithSso()
    expect(codeIn(await signIn(other))).toEqual(NOT_INVITED)
  })
})

test('two owners with the same issuer have their own people, also for one subject', async () => {
  const provider = await aProvider()
  const [one, other] = [await anOwnerWithSso({}, provider), await anOwnerWithSso({}, provider)]
  await invited(one)
  const { body } = await signIn(one)
  expect(codeIn(await signIn(other))).toEqual(NOT_INVITED)
  await invited(other)
  const second = (await signIn(other)).body
  expect([body.ownerId, second.ownerId]).toEqual([one.ownerId, other.ownerId])
  expect(second.personId).not.toBe(body.personId)
})

describe('an answer', () => {
  test('counts once, also if the provider takes its code again, and also at one instant', async () => {
    const owner = await invited()
    owner.provider.acceptsCodesAgain = true
    const begun = await begin(owner.id)
    const answer = owner.provider.authorize(begun.redirectTo, GRACE)
    const all = await Promise.all([1, 2, 3].map(() => finish(owner.id, answer, begun)))
    expect(all.map(({ status }) => status).sort()).toEqual([201, 400, 400])
    expect(codeIn(await finish(owner.id, answer, begun))).toEqual(UNKNOWN)
  })

  test('with a stolen code is of no use in another sign-in', async () => {
    const owner = await invited()
    const [victim, thief] = [await begin(owner.id), await begin(owner.id)]
    const { code } = owner.provider.authorize(victim.redirectTo, GRACE)
    const { state } = owner.provider.authorize(thief.redirectTo, { ...GRACE, sub: 'thief' })
    // The provider refuses it by the challenge of PKCE.
    expect(codeIn(await finish(owner.id, { code, state }, thief))).toEqual([504, 'provider_silent'])
  })

  test('to a sign-in that began in another browser is refused', async () => {
    const owner = await invited()
    const [mine, theirs] = [await begin(owner.id), await begin(owner.id)]
    const answer = owner.provider.authorize(theirs.redirectTo, GRACE)
    for (const cookie of [mine.cookie, 'sso=sso_', '', theirs.cookie.replace('sso=', 'session=')])
      expect(codeIn(await finish(owner.id, answer, { cookie }))).toEqual(UNKNOWN)
    expect((await finish(owner.id, answer, theirs)).status).toBe(201)
  })

  test('that another site sends is refused', async () => {
    const owner = await invited()
    const begun = await begin(owner.id)
    const answer = owner.provider.authorize(begun.redirectTo, GRACE)
    const foreign = await finish(owner.id, answer, begun, { 'sec-fetch-site': 'cross-site' })
    expect(codeIn(foreign)).toEqual([403, 'cross_site'])
    expect(foreign.headers.get('set-cookie')).toBeNull()
  })

  test('with an unknown state, or after a quarter of an hour, is refused', async () => {
    const owner = await invited()
    const begun = await begin(owner.id)
    const answer = owner.provider.authorize(begun.redirectTo, GRACE)
    expect(codeIn(await finish(owner.id, { ...answer, state: 'sss_other' }, begun))).toEqual(UNKNOWN)
    await service.sql(
      `update sso_attempts set expires_at = now() - interval '1 second' where owner_id = $1`,
      [owner.ownerId],
    )
    expect(codeIn(await finish(owner.id, answer, begun))).toEqual(UNKNOWN)
  })
})

describe('a provider that is mixed up with another', () => {
  test('gets no code of the other: each has its own redirect', async () => {
    const [honest, evil] = [await invited(), await anOwnerWithSso()]
    const begun = await begin(evil.id)
    const asked = new URL(begun.redirectTo)
    // The evil provider sends the browser on to the honest one, with the redirect that this one knows.
    asked.searchParams.set('redirect_uri', `${url}/sso/${honest.id}/callback`)
    const answer = honest.provider.authorize(asked.href, GRACE)
    expect(codeIn(await finish(honest.id, answer, begun))).toEqual(UNKNOWN)
    expect(evil.provider.tokenRequests).toEqual([])
  })

  test('is recognized by the issuer in the answer, before the code is sent', async () => {
    const owner = await invited()
    const announce = (own: object) => ({ ...own, authorization_response_iss_parameter_supported: true })
    owner.provider.metadata = announce
    const answerWith = async (members: object) => {
      const begun = await begin(owner.id)
      return finish(owner.id, { ...owner.provider.authorize(begun.redirectTo, GRACE), ...members }, begun)
    }
    expect(codeIn(await answerWith({ iss: 'https://id.example.com' }))).toEqual(UNPROVEN)
    expect(codeIn(await answerWith({}))).toEqual(UNPROVEN)
    expect(owner.provider.tokenRequests).toEqual([])
    expect((await answerWith({ iss: owner.provider.issuer })).status).toBe(201)
  })
})

describe('an issuer', () => {
  const refusalOf = async (issuer: string) => {
    const { client } = await service.owner()
    const { status, code } = await client.sso.create({ body: configurationOf({ issuer }) })
    return [status, code]
  }

  test.each([
    'https://169.254.169.254',
    'https://metadata.google.internal',
    'https://10.0.0.1/realms/x',
    'https://[::1]:8443',
    'http://id.example.com',
    'https://user@id.example.com',
    'https://id.example.com#fragment',
    'file:///etc/passwd',
    'not an address',
  ])('%s is refused', async issuer => {
    const [status, code] = await refusalOf(issuer)
    expect([400, 504]).toContain(status)
    expect(['issuer_refused', 'provider_silent']).toContain(code)
  })

  test.each<[string, (own: Readonly<Record<string, unknown>>) => object, string]>([
    ['of another name', own => ({ ...own, issuer: 'https://id.example.com' }), 'issuer_mismatch'],
    ['whose keys are inside', own => ({ ...own, jwks_uri: 'https://10.0.0.1/keys' }), 'issuer_refused'],
    [
      'whose tokens are inside',
      own => ({ ...own, token_endpoint: 'http://169.254.169.254/' }),
      'issuer_refused',
    ],
    [
      'that runs a script',
      own => ({ ...own, authorization_endpoint: 'javascript:alert(1)' }),
      'issuer_refused',
    ],
    ['without keys', ({ jwks_uri: _, ...own }) => own, 'issuer_refused'],
    ['that no database stores', own => ({ ...own, jwks_uri: `${own.jwks_uri}\u0000` }), 'issuer_refused'],
    ['with endless metadata', own => ({ ...own, padding: 'x'.repeat(70_000) }), 'provider_silent'],
  ])('%s is refused, also if it becomes so later', async (_, change, code) => {
    const owner = await anOwnerWithSso()
    const { provider } = owner
    provider.metadata = change
    expect((await refusalOf(provider.issuer))[1]).toBe(code)
    await expect(begin(owner.id)).rejects.toThrow()
  })

  test('leaves of its lists what the service asks for', async () => {
    const owner = await anOwnerWithSso()
    const scopes_supported = ['openid', 'groups', ...Array.from({ length: 3_000 }, (_, n) => `scope-${n}`)]
    owner.provider.metadata = own => ({ ...own, scopes_supported })
    const { redirectTo } = await begin(owner.id)
    expect(new URL(redirectTo).searchParams.get('scope')).toBe('openid email profile groups')
    const [stored] = await service.sql('select metadata::text from sso_attempts where owner_id = $1', [
      owner.ownerId,
    ])
    expect(String(stored?.metadata)).not.toContain('scope-')
  })

  test('that redirects is not followed', async () => {
    const provider = await aProvider()
    expect(await refusalOf(`${provider.issuer}/realm`)).toEqual([504, 'provider_silent'])
  })
})

test('a sign-in goes nowhere but to the endpoint of the provider', async () => {
  const owner = await anOwnerWithSso()
  const { redirectTo } = await begin(owner.id)
  const { origin, pathname, searchParams } = new URL(redirectTo)
  expect([origin, pathname, searchParams.get('prompt')]).toEqual([
    owner.provider.issuer,
    '/authorize',
    'login',
  ])
  expect(new URL(String(searchParams.get('redirect_uri'))).pathname).toBe(`/sso/${owner.id}/callback`)
  const page = await fetch(`${url}/sso/${owner.id}/callback?error=x&to=https://evil.example`, {
    headers: { ...FROM_OUR_PAGE, host: 'localhost' },
    redirect: 'manual',
  })
  expect([page.status, page.headers.get('location')]).toEqual([200, null])
  expect(await page.text()).not.toContain('evil.example')
})
