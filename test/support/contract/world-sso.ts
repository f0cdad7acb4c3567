import { randomUUID } from 'node:crypto'
import { SignJWT } from 'jose'
import { ssoApi } from '../../../src/identity/sso/index.ts'
import type { OutboundRequest } from '../../../src/ports/outbound.ts'
import { type HttpResponse, http } from '../harness.ts'
import { cookieOf, FROM_OUR_PAGE } from '../identity/console.ts'
import { aSigningKey } from '../identity/openid-provider.ts'
import { anInvited, aWorldConsent, type Make, type WorldService } from './world-passkeys.ts'

const METADATA = '/.well-known/openid-configuration'

const key = aSigningKey()

async function idToken(code: string): Promise<string> {
  const { privateKey, jwk } = await key
  return new SignJWT(JSON.parse(Buffer.from(code, 'base64url').toString()))
    .setProtectedHeader({ alg: String(jwk.alg), kid: String(jwk.kid) })
    .setIssuedAt()
    .setExpirationTime('5m')
    .sign(privateKey)
}

/** What an identity provider at `https://<name>.id.example.com` answers. Its codes are the claims. */
export async function openidAnswer({ url, body }: OutboundRequest): Promise<object | undefined> {
  const { origin, hostname, pathname } = new URL(url)
  if (!hostname.endsWith('.id.example.com')) return undefined
  if (pathname === METADATA)
    return {
      issuer: origin,
      authorization_endpoint: `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
      jwks_uri: `${origin}/jwks`,
    }
  if (pathname === '/jwks') return { keys: [(await key).jwk] }
  return { id_token: await idToken(String(new URLSearchParams(String(body)).get('code'))) }
}

const MAX = 5

/** An account has at most five. */
async function makeRoom(make: Make): Promise<void> {
  const { data } = await make('GET', '/sso/providers')
  for (const { id } of data.slice(MAX - 1)) await make('DELETE', `/sso/providers/${id}`)
}

export async function anIdentityProvider(make: Make, _path: string, service: WorldService) {
  await makeRoom(make)
  const { clientId, approverGroups } = ssoApi.create.example ?? {}
  const issuer = `https://${randomUUID()}.id.example.com`
  const subject = { issuer, clientId, approverGroups }
  return { issuer, webauthnAssertion: await aWorldConsent(make, service, subject) }
}

export async function aChangedProvider(make: Make, path: string, service: WorldService) {
  const subject = { providerId: path.split('/').at(-1), ...ssoApi.update.example }
  return { webauthnAssertion: await aWorldConsent(make, service, subject) }
}

const cookies = new Map<string, string>()

/** The answer of the provider to a sign-in that has begun, of a person who is invited. */
export async function anSsoAnswer(make: Make, path: string, service: WorldService) {
  const id = path.split('/').at(-2)
  const { email } = await anInvited(make, service)
  const { issuer, clientId } = await make('GET', `/sso/providers/${id}`)
  const started: HttpResponse = await http(service.url, 'POST', `/sso/${id}/start`, {
    headers: FROM_OUR_PAGE,
    body: {},
  })
  cookies.set(path, cookieOf(started))
  const { searchParams } = new URL(started.body.redirectTo)
  const [nonce, state] = ['nonce', 'state'].map(name => searchParams.get(name))
  const person = { sub: randomUUID(), email, email_verified: true, groups: [] }
  const claims = { iss: issuer, aud: clientId, ...person, nonce }
  return { state, code: Buffer.from(JSON.stringify(claims)).toString('base64url') }
}

export const ssoBrowser = async (_make: Make, path: string) => ({ cookie: String(cookies.get(path)) })
