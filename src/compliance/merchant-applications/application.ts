import { defineEntity, p } from '@mikro-orm/core'
import { PLATFORM_OWNER } from '../../identity/customers/index.ts'
import type { Tenant } from '../../kernel/contract/actor.ts'
import { machine } from '../../kernel/contract/machine.ts'
import { credential } from '../../kernel/database/credential.ts'
import { nullable, record, tenantTable } from '../../kernel/database/entity.ts'
import { encryptionKeyOf } from '../../values/encryption-key.ts'
import type { Jwk } from '../../values/public-jwk.ts'

/** Merchants belong to the platform itself, and see nothing but themselves. */
export const platform: Tenant = { ownerId: PLATFORM_OWNER, mode: 'live' }

export const applicationMachine = machine('merchant_application', {
  submitted: ['approved', 'rejected'],
  approved: ['revoked'],
  rejected: [],
  revoked: [],
})

const application = defineEntity({
  ...tenantTable('MerchantApplication', 'merchant_applications'),
  properties: {
    ...record('merchant'),
    status: p.enum(applicationMachine.states).onCreate(() => applicationMachine.initial),
    name: p.text(),
    legalName: p.text(),
    country: p.text(),
    website: p.text(),
    mcc: nullable.string(),
    contactName: p.text(),
    contactEmail: p.text(),
    /** Why it was rejected or revoked. */
    reason: nullable.string(),
    decidedAt: nullable.instant(),
    revokedAt: nullable.instant(),
    /** The public key to which data for the merchant is encrypted. */
    publicKeyJwk: nullable.json<Readonly<Record<string, string>>>(),
  },
})

/** A merchant that has asked to be let in, and what came of it. */
export class MerchantApplication extends application.class {
  /** The RFC 7638 thumbprint of its key. */
  thumbprint(): string | null {
    const key = this.publicKeyJwk && encryptionKeyOf(this.publicKeyJwk as Jwk)
    return key && 'thumbprint' in key ? key.thumbprint : null
  }
}
application.setClass(MerchantApplication)

const merchantKey = defineEntity({
  ...tenantTable('MerchantKey', 'merchant_keys'),
  properties: { ...credential('merchantkey'), merchantId: p.text() },
})

/** What a merchant calls with. */
export class MerchantKey extends merchantKey.class {}
merchantKey.setClass(MerchantKey)
