import { createHash, createHmac } from 'node:crypto'
import { createLocalJWKSet, importJWK, type JSONWebKeySet, type JWTPayload, jwtVerify, SignJWT } from 'jose'
import { z } from 'zod'
import type { Mode, Tenant } from '../../kernel/contract/actor.ts'
import type { Systems } from '../../kernel/contract/ports.ts'
import type { OutboundRequest } from '../../ports/outbound.ts'
import { clock } from '../../values/clock.ts'
import { newId } from '../../values/ids.ts'
import { emailSchema } from '../../values/schemas.ts'

type Fetching = Pick<Systems, 'outbound'>

const TIMEOUT_MS = 10_000
const MAX_BYTES = 65_536

/** In ASCII, as RFC 3986 has it: it is stored. */
const address = z
  .string()
  .max(2_000)
  .regex(/^[!-~]+$/)

/** Keeps what the service asks for: metadata is stored with each sign-in, and its lists may be long. */
const among = (...known: readonly string[]) =>
  z
    .array(z.unknown())
    .transform(names => known.filter(name => names.includes(name)))
    .optional()
    .catch(undefined)

const Metadata = z.object({
  issuer: address,
  authorization_endpoint: address,
  token_endpoint: address,
  jwks_uri: address,
  userinfo_endpoint: address.optional(),
  scopes_supported: among('groups'),
  token_endpoint_auth_methods_supported: among('client_secret_basic', 'client_secret_post'),
  token_endpoint_auth_signing_alg_values_supported: among('PS256'),
  authorization_response_iss_parameter_supported: z.boolean().optional(),
})

/** What OpenID Connect Discovery says of a provider. */
export type ProviderMetadata = z.output<typeof Metadata>

/** Live mode is https only. In test mode, the operator may allow addresses that are reached by plain http. */
const isProviderAddress = (text: string, mode: Mode, { outbound }: Fetching): boolean =>
  URL.canParse(text) &&
  new URL(text).hash === '' &&
  outbound.judge(text) === undefined &&
  (new URL(text).protocol === 'https:' || (mode === 'test' && outbound.isAllowed(text)))

type JsonRequest = Pick<OutboundRequest, 'url' | 'method' | 'headers' | 'body'>

type JsonObject = Readonly<Record<string, unknown>>

/** One owner's at a provider's host: its people may all sign in at nine o'clock. */
const MAX_CONCURRENT = 32

/**
 * Undefined unless it answers 200 with a JSON object. Redirects are not followed. `busy`: too many requests of this
 * owner are unanswered, and nothing was sent.
 */
async function requestJson(
  request: JsonRequest,
  ownerId: string,
  { outbound }: Fetching,
): Promise<JsonObject | 'busy' | undefined> {
  const headers = { accept: 'application/json', ...request.headers }
  const answer = await outbound.send({
    ...request,
    headers,
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_BYTES,
    maxConcurrent: { ownerId, most: MAX_CONCURRENT },
  })
  if (answer.kind === 'busy') return 'busy'
  if (answer.kind !== 'answered' || answer.status !== 200 || answer.cut) return undefined
  try {
    const value: unknown = JSON.parse(Buffer.from(answer.body).toString('utf8'))
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}

const metadataAddress = (issuer: string): string =>
  `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`

export type DiscoveryFailure = 'busy' | 'silent' | 'other_issuer' | 'unusable'

interface Discovery extends Tenant {
  readonly issuer: string
}

type Discovered = ProviderMetadata | DiscoveryFailure

const underWay = new Map<string, Promise<Discovered>>()

/**
 * Fetched at each sign-in, so that a provider may move its endpoints. Sign-ins that begin meanwhile share the answer:
 * anyone may begin one.
 */
export function discoverProvider(discovery: Discovery, systems: Fetching): Promise<Discovered> {
  const { ownerId, mode, issuer } = discovery
  const name = `${ownerId} ${mode} ${issuer}`
  const shared = underWay.get(name) ?? fetchMetadata(discovery, systems).finally(() => underWay.delete(name))
  underWay.set(name, shared)
  return shared
}

async function fetchMetadata({ ownerId, issuer, mode }: Discovery, systems: Fetching): Promise<Discovered> {
  if (!isProviderAddress(issuer, mode, systems)) return 'unusable'
  const answer = await requestJson({ url: metadataAddress(issuer), method: 'GET' }, ownerId, systems)
  if (answer === 'busy') return answer
  if (!answer) return 'silent'
  const { success, data } = Metadata.safeParse(answer)
  if (!success) return 'unusable'
  if (data.issuer !== issuer) return 'other_issuer'
  const { authorization_endpoint, token_endpoint, jwks_uri, userinfo_endpoint } = data
  const all = [authorization_endpoint, token_endpoint, jwks_uri, userinfo_endpoint ?? jwks_uri]
  return all.every(one => isProviderAddress(one, mode, systems)) ? data : 'unusable'
}

/** Nonce and verifier follow from the secret of the browser's cookie, so that no table has them. */
const derivedFrom = (browser: string, purpose: 'nonce' | 'code verifier'): string =>
  createHmac('sha256', browser).update(purpose).digest('base64url')

const challengeOf = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url')

interface Begun {
  readonly clientId: string
  readonly redirectUri: string
  /** The secret of the cookie that proves the browser. */
  readonly browser: string
}

/** Some providers name groups only with a scope for them. */
const scopesOf = ({ scopes_supported: supported = [] }: ProviderMetadata): string =>
  ['openid', 'email', 'profile', ...(supported.includes('groups') ? ['groups'] : [])].join(' ')

export function authorizationUrl(
  metadata: ProviderMetadata,
  { clientId, redirectUri, browser, state }: Begun & { readonly state: string },
): string {
  const url = new URL(metadata.authorization_endpoint)
  const parameters = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: scopesOf(metadata),
    state,
    nonce: derivedFrom(browser, 'nonce'),
    code_challenge: challengeOf(derivedFrom(browser, 'code verifier')),
    code_challenge_method: 'S256',
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url.href
}

/** The private key as a JWK in JSON, or the secret that the provider has given. */
type ClientCredential = { readonly secret: string } | { readonly privateKey: string }

const ASSERTION_TTL_S = 60

/** RFC 7523. A provider may accept one of the two algorithms only; the key fits both. */
async function clientAssertion(
  privateKey: string,
  clientId: string,
  metadata: ProviderMetadata,
): Promise<string> {
  const supported = metadata.token_endpoint_auth_signing_alg_values_supported ?? []
  const alg = supported.includes('PS256') ? 'PS256' : 'RS256'
  const jwk = JSON.parse(privateKey)
  const now = Math.floor(clock.milliseconds() / 1_000)
  return new SignJWT()
    .setProtectedHeader({ alg, kid: jwk.kid })
    .setIssuer(clientId)
    .setSubject(clientId)
    .setAudience(metadata.token_endpoint)
    .setJti(newId('assertion'))
    .setIssuedAt(now)
    .setExpirationTime(now + ASSERTION_TTL_S)
    .sign(await importJWK(jwk, alg))
}

interface ClientAuthentication {
  readonly headers: Readonly<Record<string, string>>
  readonly members: Readonly<Record<string, string>>
}

async function authenticateClient(
  credential: ClientCredential,
  clientId: string,
  metadata: ProviderMetadata,
): Promise<ClientAuthentication> {
  if ('privateKey' in credential)
    return {
      headers: {},
      members: {
        client_id: clientId,
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: await clientAssertion(credential.privateKey, clientId, metadata),
      },
    }
  const { secret } = credential
  const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
  if (!methods.includes('client_secret_basic') && methods.includes('client_secret_post'))
    return { headers: {}, members: { client_id: clientId, client_secret: secret } }
  const pair = [clientId, secret].map(formEncoded).join(':')
  return { headers: { authorization: `Basic ${Buffer.from(pair).toString('base64')}` }, members: {} }
}

/** RFC 6749, 2.3.1. */
const formEncoded = (text: string): string => String(new URLSearchParams({ x: text })).slice(2)

/** No `none`, and none with a shared secret: a public key must never verify as one. */
const ID_TOKEN_ALGORITHMS = ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA', 'Ed25519']

/** How far the clock of a provider may be from ours. */
const CLOCK_TOLERANCE_S = 60
const MAX_ID_TOKEN_AGE_S = 600

const isAuthorizedParty = ({ aud, azp }: JWTPayload, clientId: string): boolean =>
  azp === undefined ? !Array.isArray(aud) || aud.length === 1 : azp === clientId

/** OpenID Connect Core, 3.1.3.7. Fetches the keys each time: a rotated key verifies at once. */
async function verifyIdToken(
  token: string,
  { ownerId, clientId, browser, metadata }: CodeExchange,
  systems: Fetching,
): Promise<JWTPayload | 'busy' | undefined> {
  const keys = await requestJson({ url: metadata.jwks_uri, method: 'GET' }, ownerId, systems)
  if (!keys || keys === 'busy') return keys
  try {
    const { payload } = await jwtVerify(token, createLocalJWKSet(keys as unknown as JSONWebKeySet), {
      algorithms: ID_TOKEN_ALGORITHMS,
      issuer: metadata.issuer,
      audience: clientId,
      requiredClaims: ['sub', 'exp', 'iat', 'nonce'],
      maxTokenAge: MAX_ID_TOKEN_AGE_S,
      clockTolerance: CLOCK_TOLERANCE_S,
      currentDate: clock.real(),
    })
    const isOurs = payload.nonce === derivedFrom(browser, 'nonce') && isAuthorizedParty(payload, clientId)
    return isOurs ? payload : undefined
  } catch {
    return undefined
  }
}

const Tokens = z.object({ id_token: z.string().max(32_768), access_token: z.string().max(32_768).optional() })

export interface ProvenIdentity {
  readonly subject: string
  /** Null unless the provider says that it has verified it. */
  readonly email: string | null
  /** Null if they cannot be read, which is not none: without them, a person could have a higher role. */
  readonly groups: readonly string[] | null
}

type IdentityFailure = 'busy' | 'silent' | 'unproven'

interface CodeExchange extends Begun {
  readonly ownerId: string
  readonly code: string
  readonly credential: ClientCredential
  readonly metadata: ProviderMetadata
  readonly groupsClaim: string
  readonly readsGroups: boolean
}

/** Exchanges a code, and verifies who the provider says has signed in. */
export async function proveIdentity(
  exchange: CodeExchange,
  systems: Fetching,
): Promise<ProvenIdentity | IdentityFailure> {
  const { ownerId, code, credential, clientId, redirectUri, browser, metadata } = exchange
  const { headers, members } = await authenticateClient(credential, clientId, metadata)
  const form = {
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    code_verifier: derivedFrom(browser, 'code verifier'),
    ...members,
  }
  const answer = await requestJson(
    {
      url: metadata.token_endpoint,
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
      body: String(new URLSearchParams(form)),
    },
    ownerId,
    systems,
  )
  if (!answer) return 'silent'
  if (answer === 'busy') return answer
  const { success, data } = Tokens.safeParse(answer)
  if (!success) return 'unproven'
  const claims = await verifyIdToken(data.id_token, exchange, systems)
  if (!claims) return 'unproven'
  if (claims === 'busy') return claims
  const all = await completeClaims(claims, data.access_token, exchange, systems)
  return typeof all === 'string' ? all : identityIn(all, exchange)
}

/** A provider may keep claims out of the ID token (OpenID Connect Core, 5.4). */
async function completeClaims(
  claims: JWTPayload,
  accessToken: string | undefined,
  { ownerId, metadata: { userinfo_endpoint: url }, groupsClaim, readsGroups }: CodeExchange,
  systems: Fetching,
): Promise<JWTPayload | IdentityFailure> {
  const lacksGroups = readsGroups && claims[groupsClaim] === undefined
  if ((claims.email !== undefined && !lacksGroups) || !url || !accessToken) return claims
  const headers = { authorization: `Bearer ${accessToken}` }
  const more = await requestJson({ url, method: 'GET', headers }, ownerId, systems)
  if (more === 'busy') return more
  if (!more) return lacksGroups ? 'silent' : claims
  if (more.sub !== claims.sub) return lacksGroups ? 'unproven' : claims
  const { email, email_verified, ...others } = more
  // Both from one source: what is verified must be this address.
  return { ...others, ...claims, ...(claims.email === undefined && { email, email_verified }) }
}

const isVerified = (claim: unknown): boolean => claim === true || claim === 'true'

/** OpenID Connect Core, 2. A signature does not say that a claim is a text. */
const subjectSchema = z.string().regex(/^[ -~]{1,255}$/)

/** A text alone is refused: it may be several names in one, of which none is meant. */
const groupsSchema = z.array(z.string().min(1))

/** A provider may leave out long claims, and say where they are (OpenID Connect Core, 5.6.2). */
const isElsewhere = ({ _claim_names: names }: JWTPayload, claim: string): boolean =>
  typeof names === 'object' && names !== null && Object.hasOwn(names, claim)

function groupsIn(claims: JWTPayload, groupsClaim: string): readonly string[] | null {
  const read = groupsSchema.safeParse(claims[groupsClaim])
  return read.success && !isElsewhere(claims, groupsClaim) ? read.data : null
}

function identityIn(claims: JWTPayload, { groupsClaim }: CodeExchange): ProvenIdentity | IdentityFailure {
  const subject = subjectSchema.safeParse(claims.sub)
  if (!subject.success) return 'unproven'
  const email = emailSchema.safeParse(claims.email)
  return {
    subject: subject.data,
    email: email.success && isVerified(claims.email_verified) ? email.data : null,
    groups: groupsIn(claims, groupsClaim),
  }
}
