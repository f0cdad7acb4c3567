import { defineEntity, p } from '@mikro-orm/core'
import { PLATFORM_OWNER_ID } from '../../identity/customers/index.ts'
import type { Tenant } from '../../kernel/contract/actor.ts'
import type { AuthenticateSecret } from '../../kernel/contract/area.ts'
import { stateMachine } from '../../kernel/contract/machine.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { credentialColumns, hashSecret } from '../../kernel/database/credential.ts'
import { nullable, recordColumns, tenantTable } from '../../kernel/database/entity.ts'
import { clock } from '../../values/clock.ts'
import { parseEncryptionKey } from '../../values/encryption-key.ts'
import type { PersonalData } from '../../values/personal.ts'
import type { Jwk } from '../../values/public-jwk.ts'

/** Merchants belong to the platform and see only their own record. */
export const livePlatformTenant: Tenant = { ownerId: PLATFORM_OWNER_ID, mode: 'live' }

export const merchantApplicationMachine = stateMachine('merchant_application', {
  submitted: ['approved', 'rejected'],
  approved: ['revoked'],
  rejected: [],
  revoked: [],
})

const application = defineEntity({
  ...tenantTable('MerchantApplication', 'merchant_applications'),
  properties: {
    ...recordColumns('merchant'),
    status: p.enum(merchantApplicationMachine.states).onCreate(() => merchantApplicationMachine.initial),
    name: p.text(),
    legalName: p.text(),
    country: p.text(),
    website: p.text(),
    mcc: nullable.string(),
    contactName: p.text(),
    contactEmail: p.text(),
    reason: nullable.string(),
    decidedAt: nullable.instant(),
    revokedAt: nullable.instant(),
    publicKeyJwk: nullable.json<Readonly<Record<string, string>>>(),
  },
})

export class MerchantApplication extends application.class {
  thumbprint(): string | null {
    const key = this.publicKeyJwk && parseEncryptionKey(this.publicKeyJwk as Jwk)
    return key && 'thumbprint' in key ? key.thumbprint : null
  }
}
application.setClass(MerchantApplication)

const merchantKey = defineEntity({
  ...tenantTable('MerchantKey', 'merchant_keys'),
  properties: { ...credentialColumns('merchantkey'), merchantId: p.text() },
})

export class MerchantKey extends merchantKey.class {}
merchantKey.setClass(MerchantKey)

export const merchantApplicationsPersonalData = {
  merchant_applications: {
    personal: {
      name: { kind: 'name', ground: 'contract', forget: 'word' },
      legal_name: { kind: 'name', ground: 'contract', forget: 'word' },
      website: { kind: 'contact', ground: 'contract', forget: 'word' },
      contact_name: { kind: 'name', ground: 'contract', forget: 'word' },
      contact_email: { kind: 'contact', ground: 'contract', forget: 'word' },
      reason: { kind: 'words', ground: 'contract', forget: 'word' },
    },
    plain: ['country', 'mcc', 'public_key_jwk'],
    about: { merchant: ['id'] },
  },
  merchant_keys: {
    personal: {},
    plain: ['merchant_id', 'hint'],
    secret: ['hash'],
  },
} as const satisfies PersonalData

/** Finds a key of an approved merchant, and records its use once a minute without waiting for a lock. */
const FIND = `
with holder as (
  select s.owner_id, s.mode, s.id, s.last_used_at from merchant_keys s
  join merchant_applications a on (a.owner_id, a.mode, a.id) = (s.owner_id, s.mode, s.merchant_id)
  where s.hash = $1 and s.revoked_at is null and (s.expires_at is null or s.expires_at > $2::timestamptz)
    and a.status = 'approved'
), used as (
  update merchant_keys set last_used_at = $2
  where (owner_id, mode, id) = (
    select s.owner_id, s.mode, s.id from merchant_keys s join holder using (owner_id, mode, id)
    where s.last_used_at is null or s.last_used_at <= $2::timestamptz - interval '1 minute'
    for no key update of s skip locked
  )
)
select id from holder`

const NO_SCOPES: ReadonlySet<string> = new Set()

/** A merchant has no scopes: its key reads and changes its own record only. */
export const authenticateMerchant: AuthenticateSecret = async (secret, sql) => {
  const [key] = await sql<{ readonly id: string } & Row>(FIND, [hashSecret(secret), clock.real()])
  return key && { type: 'merchant', id: key.id, tenant: livePlatformTenant, agentId: null, scopes: NO_SCOPES }
}
