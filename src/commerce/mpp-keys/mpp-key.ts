import { generateKeyPair, hash, type JsonWebKey, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { defineEntity, p } from '@mikro-orm/core'
import type { Tenant } from '../../kernel/contract/actor.ts'
import type { ReadContext } from '../../kernel/contract/context.ts'
import type { Systems } from '../../kernel/contract/ports.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { nullable, recordColumns, tenantTable } from '../../kernel/database/entity.ts'
import { plain, secret } from '../../kernel/database/personal.ts'
import type { MerchantKey } from '../../mpp/index.ts'
import type { Vault } from '../../ports/vault.ts'
import { memoizeByWeight } from '../../values/bounded-cache.ts'
import { addMs, minutes } from '../../values/clock.ts'

export const CHALLENGE_TTL_MS = minutes(5)
/** Keys outlive their challenges, since a payment may be under way when its challenge expires. */
const GRACE_MS = minutes(5)

const schema = defineEntity({
  ...tenantTable('MppKey', 'mpp_keys'),
  properties: {
    ...recordColumns('mppkey'),
    kid: plain(p.text()),
    /** The modulus of the public key, in base64url; the exponent is 65537. */
    modulus: plain(p.text()),
    /**
     * Signs the ids of challenges (HMAC). Sealed, like the private key. Null once every challenge made with
     * it has ended.
     */
    secret: secret(nullable.string()),
    privateKey: secret(nullable.string()),
    retiredAt: nullable.instant(),
    endsAt: nullable.instant(),
  },
})

/**
 * The keys by which an owner offers challenges: a secret for their ids, and an RSA key to which payers
 * encrypt tokens.
 */
export class MppKey extends schema.class {}
schema.setClass(MppKey)

export const mppPublicJwk = ({ kid, modulus: n }: Pick<MppKey, 'kid' | 'modulus'>): MerchantKey => ({
  kty: 'RSA',
  n,
  e: 'AQAB',
  use: 'enc',
  alg: 'RSA-OAEP-256',
  kid,
})

export function retireMppKey(key: Pick<MppKey, 'retiredAt' | 'endsAt'>, now: Date): void {
  key.retiredAt = now
  key.endsAt = addMs(now, CHALLENGE_TTL_MS + GRACE_MS)
}

const makePair = promisify(generateKeyPair)

export interface NewMppKey {
  readonly kid: string
  readonly modulus: string
  readonly secret: string
  readonly privateKey: string
}

/** Generates the primes outside of the event loop, and without an open transaction. */
export async function newMppKey(vault: Vault): Promise<NewMppKey> {
  const { publicKey, privateKey } = await makePair('rsa', { modulusLength: 2_048 })
  const { n = '' } = publicKey.export({ format: 'jwk' })
  const kid = thumbprintOf(n)
  const jwk = JSON.stringify(privateKey.export({ format: 'jwk' }))
  return {
    kid,
    modulus: n,
    secret: vault.seal(randomBytes(32).toString('base64url'), secretContext(kid)),
    privateKey: vault.seal(jwk, privateContext(kid)),
  }
}

const thumbprintOf = (n: string): string =>
  hash('sha256', JSON.stringify({ e: 'AQAB', kty: 'RSA', n }), 'base64url')

const secretContext = (kid: string): string => `mpp-secret:${kid}`
const privateContext = (kid: string): string => `mpp-key:${kid}`

export const openMppSecret = (vault: Vault, kid: string, sealed: string): string =>
  vault.open(sealed, secretContext(kid))

export const openMppPrivateKey = (vault: Vault, kid: string, sealed: string): JsonWebKey =>
  JSON.parse(vault.open(sealed, privateContext(kid))) as JsonWebKey

interface StoredKey {
  readonly kid: string
  readonly modulus: string
  readonly secret: string
}

export interface CurrentMppKey {
  readonly secret: string
  readonly jwk: MerchantKey
}

/**
 * SQL of the current key of the tenant whose row has this alias. Its columns are those of a stored key, for a
 * lateral join.
 */
export const currentMppKeySql = (alias: string): string => `
select kid, modulus, secret from mpp_keys
where (owner_id, mode) = (${alias}.owner_id, ${alias}.mode) and retired_at is null limit 1`

const CURRENT = `
select k.* from (values ($1::text, $2::text)) as of (owner_id, mode) cross join lateral (${currentMppKeySql('of')}) k`

/** Cached by the sealed text, so that only a caller that has read that text gets the key. */
const opened = memoizeByWeight<CurrentMppKey>(1_000, () => 1)

export const openMppKey = (
  { kid, modulus, secret }: StoredKey,
  { vault }: Pick<Systems, 'vault'>,
): CurrentMppKey =>
  opened(secret, () => ({ secret: openMppSecret(vault, kid, secret), jwk: mppPublicJwk({ kid, modulus }) }))

/**
 * The tenant's current key. The first key is made on demand, in its own transaction, since it is not an
 * effect of the payment.
 */
export async function currentMppKey(
  tenant: Tenant,
  { sql, systems, service, requestId }: ReadContext,
): Promise<CurrentMppKey> {
  const read = () => sql<StoredKey & Row>(CURRENT, [tenant.ownerId, tenant.mode])
  const [stored] = await read()
  if (stored) return openMppKey(stored, systems)
  await service.runFor(tenant, 'mppKeys.make', {}, requestId)
  const [made] = await read()
  if (!made) throw new Error('no key is current although one was made')
  return openMppKey(made, systems)
}

export interface UsableMppKey extends CurrentMppKey {
  readonly privateKey: string
}

const LIVE = `
select kid, modulus, secret, private_key as "privateKey" from mpp_keys
where owner_id = $1 and mode = $2 and secret is not null and (ends_at is null or ends_at > $3)
order by id desc`

/** Keys whose challenges may still be open: the current key, and keys retired a few minutes ago. */
export async function usableMppKeys({ sql, tenant, systems, now }: ReadContext): Promise<UsableMppKey[]> {
  const stored = await sql<StoredKey & { privateKey: string } & Row>(LIVE, [tenant.ownerId, tenant.mode, now])
  return stored.map(key => ({ ...openMppKey(key, systems), privateKey: key.privateKey }))
}
