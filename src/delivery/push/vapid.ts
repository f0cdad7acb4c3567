import { createECDH } from 'node:crypto'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import type { Vault } from '../../ports/vault.ts'

/** The pair with which this installation proves itself to push services (RFC 8292), in base64url. */
export interface VapidKeys {
  readonly publicKey: string
  /** Sealed. */
  readonly privateKey: string
}

const CONTEXT = 'vapid-private-key'

const READ = 'select public_key as "publicKey", private_key as "privateKey" from vapid_keys'

/** Made when it is first asked for, and kept: with another pair no browser would hear of anything any more. */
export async function vapidKeys(sql: Sql, vault: Vault): Promise<VapidKeys> {
  const [kept] = await sql<VapidKeys & Row>(READ)
  if (kept) return kept
  const { publicKey, privateKey } = newPair()
  await sql(
    `insert into vapid_keys (public_key, private_key, created_at) values ($1, $2, clock_timestamp())
     on conflict do nothing`,
    [publicKey, vault.seal(privateKey, CONTEXT)],
  )
  const [made] = await sql<VapidKeys & Row>(READ)
  if (!made) throw new Error('the VAPID keys were not kept')
  return made
}

export const openPrivateKey = (vault: Vault, { privateKey }: VapidKeys): string =>
  vault.open(privateKey, CONTEXT)

function newPair() {
  const pair = createECDH('prime256v1')
  const publicKey = pair.generateKeys('base64url')
  // A number below 2²⁴⁸ is written shorter than it is read.
  const privateKey = Buffer.from(pair.getPrivateKey('hex').padStart(64, '0'), 'hex').toString('base64url')
  return { publicKey, privateKey }
}
