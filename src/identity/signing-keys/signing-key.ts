import { defineEntity, p } from '@mikro-orm/core'
import type { Tenant } from '../../kernel/contract/actor.ts'
import { nullable, record, tenantTable } from '../../kernel/database/entity.ts'
import { type PublicKey, publicKeyOf } from '../../ports/signer.ts'
import type { Vault } from '../../ports/vault.ts'
import { PLATFORM_OWNER } from '../customers/index.ts'

/** The keys are the installation's own, and sign for all owners and both modes. */
export const platform: Tenant = { ownerId: PLATFORM_OWNER, mode: 'live' }

const schema = defineEntity({
  ...tenantTable('SigningKey', 'signing_keys'),
  properties: {
    ...record('signingkey'),
    kid: p.text(),
    /** The public key, in base64url. */
    x: p.text(),
    /** Sealed; null once the key is retired, as it signs nothing any more. */
    privateKey: nullable.string(),
    retiredAt: nullable.instant(),
  },
})

export class SigningKey extends schema.class {
  publicKey(): PublicKey {
    return publicKeyOf(this.x)
  }
}
schema.setClass(SigningKey)

const sealContext = (kid: string): string => `signing-key:${kid}`

export const seal = (vault: Vault, kid: string, privateKey: string): string =>
  vault.seal(privateKey, sealContext(kid))

export const unseal = (vault: Vault, kid: string, sealed: string): string =>
  vault.open(sealed, sealContext(kid))
