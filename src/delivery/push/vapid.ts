import { createECDH } from 'node:crypto'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import type { Vault } from '../../ports/vault.ts'

/** The key pair that identifies this installation to push services (RFC 8292), in base64url. */
export interface VapidKeys {
  readonly publicKey: string
  /** Sealed. */
  readonly privateKey: string
}

const CONTEXT = 'vapid-private-key'

const READ = 'select public_key as "publicKey", private_key as "privateKey" from vapid_keys'

/** Reads the key pair and makes it at the first call. It never changes: browsers have subscribed with it. */
export async function vapidKeys(sql: Sql, vault: Vault): Promise<VapidKeys> {
  const [existing] = await sql<VapidKeys & Row>(READ)
  if (existing) return existing
  const { publicKey, privateKey } = newPair()
  await sql(
    `insert into vapid_keys (public_key, private_key, created_at) values ($1, $2, clock_timestamp())
     on conflict do nothing`,
    [publicKey, vault.seal(privateKey, CONTEXT)],
  )
  // Another process may have been first: its pair counts.
  const [stored] = await sql<VapidKeys & Row>(READ)
  if (!stored) throw new Error('the VAPID keys were not stored')
  return stored
}

export const openPrivateKey = (vault: Vault, { privateKey }: VapidKeys): string =>
  vault.open(privateKey, CONTEXT)

function newPair() {
  const pair = createECDH('prime256v1')
  const publicKey = pair.generateKeys('base64url')
  // Node writes a private key below 2²⁴⁸ with fewer than 32 bytes, and readers expect 32.
  const privateKey = Buffer.from(pair.getPrivateKey('hex').padStart(64, '0'), 'hex').toString('base64url')
  return { publicKey, privateKey }
}
