import { timingSafeEqual } from 'node:crypto'
import { defineEntity, p } from '@mikro-orm/core'
import type { ReadContext } from '../../kernel/contract/context.ts'
import { stateMachine } from '../../kernel/contract/machine.ts'
import type { Scope } from '../../kernel/contract/scopes.ts'
import { hashSecret, newSecret } from '../../kernel/database/credential.ts'
import { nullable, recordColumns, tenantTable, timestampColumn } from '../../kernel/database/entity.ts'
import { personal, personalTable, plain, secret } from '../../kernel/database/personal.ts'
import { days, minutes } from '../../values/clock.ts'

/** `approved`: the client has its code. `connected`: it has exchanged the code for tokens. */
export const grantMachine = stateMachine('oauth-grant', {
  approved: ['connected', 'ended'],
  connected: ['ended'],
  ended: [],
})

/** Repeats the condition of the partial indexes over open grants exactly. */
export const OPEN_GRANT_SQL = "status in ('approved', 'connected')"

export const grantEndReasons = [
  'disconnected',
  'expired',
  'token_revoked',
  'person_removed',
  'person_demoted',
  'revoked_by_client',
  'code_replayed',
  'code_misused',
  'refresh_replayed',
  'refresh_misused',
] as const
export type GrantEndReason = (typeof grantEndReasons)[number]

export const CODE_TTL_MS = minutes(1)
/** In real time. */
export const ACCESS_TOKEN_TTL_MS = minutes(60)
export const ENDED_GRANT_RETENTION_MS = days(90)

const MAX_READ = 100

const schema = defineEntity({
  ...tenantTable('OauthGrant', 'oauth_grants', 'agentId'),
  ...personalTable({ about: { person: ['person_id'] } }),
  properties: {
    ...recordColumns('assistant'),
    status: p.enum(grantMachine.states).onCreate(() => grantMachine.initial),
    agentId: p.text(),
    personId: p.text(),
    clientId: personal(p.text(), 'words', 'contract', 'word'),
    clientName: personal(p.text(), 'words', 'contract', 'word'),
    clientHost: personal(nullable.string(), 'words', 'contract', 'word'),
    redirectUri: personal(p.text(), 'words', 'contract', 'word'),
    resource: plain(p.text()),
    scopes: plain(p.array().columnType('text[]').$type<Scope[]>()),
    codeHash: secret(p.text()),
    codeChallenge: secret(p.text()),
    /** The key to which the client has bound its code (RFC 9449, 10). */
    dpopJkt: plain(nullable.string()),
    familyHash: secret(nullable.string()),
    refreshHash: secret(nullable.string()),
    tokenId: nullable.string(),
    mandateId: plain(nullable.string()),
    expiresAt: timestampColumn(),
    dueAt: nullable.instant(),
    endedAt: nullable.instant(),
    endedBecause: plain(nullable.enum(grantEndReasons)),
    forgetAt: nullable.instant(),
  },
})

/** What a person has granted to an assistant. Its instants are by the tenant's clock. */
export class OauthGrant extends schema.class {}
schema.setClass(OauthGrant)

export const mayPay = ({ scopes }: Pick<OauthGrant, 'scopes'>): boolean => scopes.includes('intents:write')

/** Connections of the client that only read: the person may extend one of them. */
export const findReadingGrants = async (
  of: Pick<OauthGrant, 'personId' | 'clientId'>,
  { em }: ReadContext,
): Promise<OauthGrant[]> => {
  const grants = await em.find(
    OauthGrant,
    { ...of, status: 'connected' },
    { orderBy: { id: 'desc' }, limit: MAX_READ },
  )
  return grants.filter(grant => !mayPay(grant))
}

export const newCode = (): string => newSecret('oac_')

const REFRESH_PREFIX = 'ort_'
const PART_LENGTH = 43
const REFRESH_TOKEN = /^ort_(\w{43})(\w{43})$/

/** The first part is the same for all refresh tokens of a grant, so that each old one is recognized. */
export const newRefreshFamily = (): string => newSecret(REFRESH_PREFIX)
export const newRefreshPart = (): string => newSecret('')

export function splitRefreshToken(token: string): { family: string; part: string } | undefined {
  if (!REFRESH_TOKEN.test(token)) return undefined
  return { family: token.slice(0, -PART_LENGTH), part: token.slice(-PART_LENGTH) }
}

/** Compares in constant time: the stored digest belongs to a secret that the sender may only half know. */
export const isSecretOf = (digest: string | null, secret: string): boolean =>
  digest !== null && timingSafeEqual(Buffer.from(digest), Buffer.from(hashSecret(secret)))
