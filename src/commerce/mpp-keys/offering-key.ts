import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Ports } from '../../kernel/contract/ports.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import type { MerchantKey } from '../../mpp/index.ts'
import { weightedCache } from '../../values/bounded-cache.ts'
import { openSecret, publicJwkOf } from './mpp-key.ts'

/** A key as it is stored, as far as challenges need it. */
interface StoredKey {
  readonly kid: string
  readonly modulus: string
  readonly secret: string
}

/** What a challenge is offered with, and known again by. */
export interface OfferingKey {
  readonly secret: string
  readonly jwk: MerchantKey
}

/** SQL of the current key of the tenant whose row has this alias: the columns of a stored key, to be joined laterally. */
export const currentKeyOf = (alias: string): string => `
select kid, modulus, secret from mpp_keys
where (owner_id, mode) = (${alias}.owner_id, ${alias}.mode) and retired_at is null limit 1`

const CURRENT = `
select k.* from (values ($1::text, $2::text)) as of (owner_id, mode) cross join lateral (${currentKeyOf('of')}) k`

/** Keys that were opened, by what is sealed: nobody gets one who has not read that first. */
const opened = weightedCache<OfferingKey>(1_000, () => 1)

export const openKey = ({ kid, modulus, secret }: StoredKey, { vault }: Pick<Ports, 'vault'>): OfferingKey =>
  opened(secret, () => ({ secret: openSecret(vault, kid, secret), jwk: publicJwkOf({ kid, modulus }) }))

/** The current key of the tenant. The first one is made when it is needed, by a transaction of its own: to have one is no effect of a payment. */
export async function offeringKey(
  tenant: Tenant,
  { sql, ports, requestId }: { readonly sql: Sql; readonly ports: Ports; readonly requestId: string },
): Promise<OfferingKey> {
  const read = () => sql<StoredKey & Row>(CURRENT, [tenant.ownerId, tenant.mode])
  const [stored] = await read()
  if (stored) return openKey(stored, ports)
  await ports.runFor(tenant, 'mppKeys.make', {}, requestId)
  const [made] = await read()
  if (!made) throw new Error('no key is current although one was made')
  return openKey(made, ports)
}

/** A key by which a challenge can be paid, with its private half as the vault has sealed it. */
export interface LiveKey extends OfferingKey {
  readonly privateKey: string
}

const LIVE = `
select kid, modulus, secret, private_key as "privateKey" from mpp_keys
where owner_id = $1 and mode = $2 and secret is not null and (ends_at is null or ends_at > $3)
order by id desc`

/** The keys of which challenges may be open: the current one, and those that were retired a few minutes ago. */
export async function liveKeys({
  sql,
  tenant,
  ports,
  now,
}: {
  readonly sql: Sql
  readonly tenant: Tenant
  readonly ports: Ports
  readonly now: Date
}): Promise<LiveKey[]> {
  const stored = await sql<StoredKey & { privateKey: string } & Row>(LIVE, [tenant.ownerId, tenant.mode, now])
  return stored.map(key => ({ ...openKey(key, ports), privateKey: key.privateKey }))
}
