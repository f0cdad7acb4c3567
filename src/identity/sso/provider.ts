import { defineEntity, p } from '@mikro-orm/core'
import type { JWK } from 'jose'
import type { Mode, Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import {
  nullable,
  realTimestampColumns,
  recordColumns,
  tenantTable,
  textArrayColumn,
  timestampColumn,
  withMembers,
} from '../../kernel/database/entity.ts'
import { personal, personalTable, plain, secret } from '../../kernel/database/personal.ts'
import { personRoles } from '../customers/index.ts'
import type { ProviderMetadata } from './openid.ts'

export const MAX_PROVIDERS = 5
export const MAX_GROUPS = 50

const providerSchema = defineEntity({
  ...tenantTable('SsoProvider', 'sso_providers'),
  properties: {
    ...recordColumns('ssoprovider'),
    name: personal(p.text(), 'words', 'contract', 'word'),
    issuer: plain(p.text()),
    clientId: plain(nullable.string()),
    /** Sealed, as `privateKey` is. */
    clientSecret: secret(nullable.string()),
    privateKey: secret(p.text()),
    publicKey: plain(p.json<JWK>()),
    groupsClaim: plain(p.text()),
    ownerGroups: plain(textArrayColumn()),
    approverGroups: plain(textArrayColumn()),
    viewerGroups: plain(textArrayColumn()),
  },
})

/** An identity provider of the owner, which signs people in (OpenID Connect). */
export class SsoProvider extends providerSchema.class {}
providerSchema.setClass(SsoProvider)

const subjectSchema = defineEntity({
  ...tenantTable('SsoSubject', 'sso_subjects'),
  ...personalTable({ about: { person: ['person_id'] } }),
  properties: {
    ...recordColumns('ssosubject'),
    providerId: plain(p.text()),
    personId: p.text(),
    subject: personal(p.text(), 'name', 'security', 'pseudonym'),
    groupRole: plain(nullable.enum(personRoles)),
    baseRole: plain(nullable.enum(personRoles)),
  },
})

/** The person whom a provider names by this subject. A provider has one issuer, so this is by issuer and subject. */
export class SsoSubject extends subjectSchema.class {}
subjectSchema.setClass(SsoSubject)

const attemptSchema = defineEntity({
  ...tenantTable('SsoAttempt', 'sso_attempts'),
  properties: {
    ...recordColumns('ssoattempt'),
    ...realTimestampColumns(),
    providerId: plain(p.text()),
    stateHash: secret(p.text()),
    browserHash: secret(p.text()),
    metadata: plain(p.json<ProviderMetadata>()),
    expiresAt: timestampColumn(),
    usedAt: nullable.instant(),
  },
})

/** A sign-in that has begun in a browser. Its instants are in real time. */
export class SsoAttempt extends attemptSchema.class {}
attemptSchema.setClass(SsoAttempt)

/** Binds a sealed secret to its provider: it cannot be opened for another record. */
export const ssoSecretContext = (providerId: string): string => `sso-client:${providerId}`

const ssoSignInPath = (providerId: string): string => `/login?sso=${providerId}`
/** One address for each provider, so that the answer of one is never taken for that of another. */
export const ssoCallbackPath = (providerId: string): string => `/sso/${providerId}/callback`
const ssoKeysPath = (providerId: string): string => `/sso/${providerId}/jwks`

interface FoundProvider extends Tenant {
  readonly offsetMs: number
  readonly name: string
  readonly issuer: string
  readonly clientId: string | null
  readonly publicKey: JWK
}

const FIND = `
select p.owner_id as "ownerId", p.mode, coalesce(t.offset_ms, 0)::float8 as "offsetMs", p.name, p.issuer,
  p.client_id as "clientId", p.public_key as "publicKey"
from sso_providers p
join customers c on c.id = p.owner_id and c.status = 'active'
left join tenant_clocks t on t.owner_id = p.owner_id and t.mode = p.mode
where p.id = $1`

/** For requests that name the provider and have no account yet. */
export async function findSsoProvider(id: string, sql: Sql): Promise<FoundProvider | undefined> {
  const [found] = await sql<FoundProvider & { mode: Mode } & Row>(FIND, [id])
  return found
}

export const ssoProviderResponse = (
  provider: SsoProvider,
  { pageUrl }: { readonly pageUrl: (path: string) => string },
) =>
  withMembers(provider, {
    clientAuthentication:
      provider.clientSecret === null ? ('private_key_jwt' as const) : ('client_secret' as const),
    signInUrl: pageUrl(ssoSignInPath(provider.id)),
    redirectUri: pageUrl(ssoCallbackPath(provider.id)),
    jwksUri: pageUrl(ssoKeysPath(provider.id)),
  })

export const ssoProviderEvent = ({ id: providerId, name, issuer, clientId }: SsoProvider) => ({
  providerId,
  name,
  issuer,
  clientId,
})
