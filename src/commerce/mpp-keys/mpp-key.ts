import { defineEntity, p } from '@mikro-orm/core'
import { nullable, record, tenantTable } from '../../kernel/database/entity.ts'
import type { MerchantKey } from '../../mpp/index.ts'
import { after, minutes } from '../../values/clock.ts'

/** How long a challenge can be paid. */
export const CHALLENGE_MS = minutes(5)
/** For how much longer its keys are kept: a payment may be on its way when the challenge expires. */
const GRACE_MS = minutes(5)

const schema = defineEntity({
  ...tenantTable('MppKey', 'mpp_keys'),
  properties: {
    ...record('mppkey'),
    kid: p.text(),
    /** The modulus of the public key, in base64url; the exponent is 65537. */
    modulus: p.text(),
    /** Sealed, as the private key is: it makes the ids of challenges. Null once no challenge made with it is open. */
    secret: nullable.string(),
    privateKey: nullable.string(),
    retiredAt: nullable.instant(),
    /** When secret and private key are deleted. */
    endsAt: nullable.instant(),
  },
})

/** The keys by which an owner offers challenges: a secret for their ids, and an RSA key that tokens are encrypted to. */
export class MppKey extends schema.class {}
schema.setClass(MppKey)

/** The public key as challenges show it. */
export const publicJwkOf = ({ kid, modulus: n }: Pick<MppKey, 'kid' | 'modulus'>): MerchantKey => ({
  kty: 'RSA',
  n,
  e: 'AQAB',
  use: 'enc',
  alg: 'RSA-OAEP-256',
  kid,
})

/** Retires a key: challenges that were offered before can still be paid. */
export function retire(key: Pick<MppKey, 'retiredAt' | 'endsAt'>, now: Date): void {
  key.retiredAt = now
  key.endsAt = after(now, CHALLENGE_MS + GRACE_MS)
}
