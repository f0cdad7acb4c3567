import { createPrivateKey, type KeyObject } from 'node:crypto'
import { defineEntity, p } from '@mikro-orm/core'
import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { nullable, record, tenantTable } from '../../kernel/database/entity.ts'
import { newKeyPair, type PublicKey, publicKeyOf } from '../../ports/signer.ts'
import type { Vault } from '../../ports/vault.ts'
import { newId } from '../../values/ids.ts'
import type { Personal } from '../../values/personal.ts'
import { PLATFORM_OWNER } from '../customers/index.ts'

export const platform: Tenant = { ownerId: PLATFORM_OWNER, mode: 'live' }

const schema = defineEntity({
  ...tenantTable('SigningKey', 'signing_keys'),
  properties: {
    ...record('signingkey'),
    kid: p.text(),
    x: p.text(),
    /** Sealed. Null once the key is retired and no longer signs. */
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

export const signingKeysPersonal = {
  signing_keys: {
    personal: {},
    plain: ['kid', 'x'],
    secret: ['private_key'],
  },
} as const satisfies Personal

export interface LoadedKeys {
  readonly kid: string
  readonly current: KeyObject | Error
  readonly publicKeys: readonly PublicKey[]
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

const readKeys = (sql: Sql): Promise<StoredKey[]> => sql<StoredKey>(READ, [platform.ownerId, platform.mode])

export async function loadKeys(sql: Sql, vault: Vault): Promise<LoadedKeys> {
  const keys = await readKeys(sql)
  if (keys.length > 0) return opened(keys, vault)
  await makeFirstKey(sql, vault)
  return opened(await readKeys(sql), vault)
}

async function makeFirstKey(sql: Sql, vault: Vault): Promise<void> {
  const { x, privateKey } = newKeyPair()
  const { kid } = publicKeyOf(x)
  const values = [newId('signingkey'), kid, x, seal(vault, kid, privateKey)]
  await sql(MAKE, [platform.ownerId, platform.mode, ...values])
}

function opened(keys: readonly StoredKey[], vault: Vault): LoadedKeys {
  const current = keys.find(({ privateKey }) => privateKey !== null)
  if (!current?.privateKey) throw new Error('no signing key is current')
  const publicKeys = keys.map(({ x }) => publicKeyOf(x))
  return { kid: current.kid, current: openKey(current.kid, current.privateKey, vault), publicKeys }
}

function openKey(kid: string, sealed: string, vault: Vault): KeyObject | Error {
  try {
    return createPrivateKey(unseal(vault, kid, sealed))
  } catch (cause) {
    return new Error(
      `The signing key ${kid} cannot be opened. Add its ENCRYPTION_KEY to ENCRYPTION_KEYS_OLD, or create a new key with POST /signing-keys/rotate.`,
      { cause },
    )
  }
}
