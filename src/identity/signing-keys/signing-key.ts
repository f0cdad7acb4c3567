import { createPrivateKey, type KeyObject } from 'node:crypto'
import { defineEntity, p } from '@mikro-orm/core'
import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { nullable, recordColumns, tenantTable } from '../../kernel/database/entity.ts'
import { plain, secret } from '../../kernel/database/personal.ts'
import { newSigningKeyPair, publicKeyFromX, type SigningPublicKey } from '../../ports/signer.ts'
import type { Vault } from '../../ports/vault.ts'
import { newId } from '../../values/ids.ts'
import { PLATFORM_OWNER_ID } from '../customers/index.ts'

export const livePlatformTenant: Tenant = { ownerId: PLATFORM_OWNER_ID, mode: 'live' }

const schema = defineEntity({
  ...tenantTable('SigningKey', 'signing_keys'),
  properties: {
    ...recordColumns('signingkey'),
    kid: plain(p.text()),
    x: plain(p.text()),
    /** Sealed. Null once the key is retired and no longer signs. */
    privateKey: secret(nullable.string()),
    retiredAt: nullable.instant(),
  },
})

export class SigningKey extends schema.class {
  publicKey(): SigningPublicKey {
    return publicKeyFromX(this.x)
  }
}
schema.setClass(SigningKey)

const sealContext = (kid: string): string => `signing-key:${kid}`

export const sealSigningKey = (vault: Vault, kid: string, privateKey: string): string =>
  vault.seal(privateKey, sealContext(kid))

export const unsealSigningKey = (vault: Vault, kid: string, sealed: string): string =>
  vault.open(sealed, sealContext(kid))

export interface LoadedSigningKeys {
  readonly kid: string
  readonly current: KeyObject | Error
  readonly publicKeys: readonly SigningPublicKey[]
}

interface StoredKey extends Row {
  readonly kid: string
  readonly x: string
  readonly privateKey: string | null
}

const READ = `
select kid, x, private_key as "privateKey" from signing_keys
where owner_id = $1 and mode = $2 order by id desc`

/** Stores only one key, even if another process creates the first key concurrently. */
const MAKE = `
insert into signing_keys (owner_id, mode, id, created_at, updated_at, kid, x, private_key)
values ($1, $2, $3, clock_timestamp(), clock_timestamp(), $4, $5, $6)
on conflict (owner_id, mode) where retired_at is null do nothing`

const readKeys = (sql: Sql): Promise<StoredKey[]> =>
  sql<StoredKey>(READ, [livePlatformTenant.ownerId, livePlatformTenant.mode])

export async function loadSigningKeys(sql: Sql, vault: Vault): Promise<LoadedSigningKeys> {
  const keys = await readKeys(sql)
  if (keys.length > 0) return opened(keys, vault)
  await makeFirstKey(sql, vault)
  return opened(await readKeys(sql), vault)
}

async function makeFirstKey(sql: Sql, vault: Vault): Promise<void> {
  const { x, privateKey } = newSigningKeyPair()
  const { kid } = publicKeyFromX(x)
  const values = [newId('signingkey'), kid, x, sealSigningKey(vault, kid, privateKey)]
  await sql(MAKE, [livePlatformTenant.ownerId, livePlatformTenant.mode, ...values])
}

function opened(keys: readonly StoredKey[], vault: Vault): LoadedSigningKeys {
  const current = keys.find(({ privateKey }) => privateKey !== null)
  if (!current?.privateKey) throw new Error('no signing key is current')
  const publicKeys = keys.map(({ x }) => publicKeyFromX(x))
  return { kid: current.kid, current: openKey(current.kid, current.privateKey, vault), publicKeys }
}

function openKey(kid: string, sealed: string, vault: Vault): KeyObject | Error {
  try {
    return createPrivateKey(unsealSigningKey(vault, kid, sealed))
  } catch (cause) {
    return new Error(
      `The signing key ${kid} cannot be opened. Add its ENCRYPTION_KEY to ENCRYPTION_KEYS_OLD, or create a new key with POST /signing-keys/rotate.`,
      { cause },
    )
  }
}
