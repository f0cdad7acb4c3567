import { KeyObject } from 'node:crypto'
import { SignatureRejected, UnknownSigningKey, verifySigned } from '../derive/verify-signed.ts'
import { type LoadedSigningKeys, loadSigningKeys } from '../identity/signing-keys/index.ts'
import { Problem } from '../kernel/contract/problem.ts'
import type { Sql } from '../kernel/contract/sql.ts'
import { type Signer, signJws } from '../ports/signer.ts'
import type { Vault } from '../ports/vault.ts'
import { signedNote } from '../trail/index.ts'
import { clock } from '../values/clock.ts'

/** While this process signs and verifies, the longest delay until a key from another process signs here. */
const FRESH_MS = 2_000
/** The same of a process that has rested. */
const REFRESH_EVERY = 30_000

const CANNOT_SIGN =
  'This installation cannot open its signing key. The operator finds the reason in the log and can create a new key with POST /signing-keys/rotate.'

export interface OpenSigner extends Signer {
  /** Called with committed events: after a rotation in this process, the new key signs at once. */
  onEvents(events: readonly { readonly event: string }[]): void
  stop(): void
}

interface Parts {
  readonly sql: Sql
  readonly vault: Vault
  readonly onFailure: (error: unknown) => void
}

/**
 * Loads the keys and refreshes them in the background, so that signing never waits for the database. An idle
 * process reads them rarely.
 */
export async function openSigner({ sql, vault, onFailure }: Parts): Promise<OpenSigner> {
  let keys = await loadSigningKeys(sql, vault)
  reportUnopened(keys, onFailure)
  let loading: Promise<void> | undefined
  let readAt = clock.ticks()
  let stopped = false
  const refresh = (): Promise<void> => {
    loading ??= loadSigningKeys(sql, vault)
      .then(loaded => {
        if (loaded.kid !== keys.kid) reportUnopened(loaded, onFailure)
        keys = loaded
      })
      .catch((error: unknown) => {
        // The loaded keys still sign; the next round reads them again.
        if (!stopped) onFailure(error)
      })
      .finally(() => {
        loading = undefined
        readAt = clock.ticks()
      })
    return loading
  }
  const inUse = (): LoadedSigningKeys => {
    if (!stopped && clock.ticks() - readAt > FRESH_MS) void refresh()
    return keys
  }
  const refreshing = setInterval(refresh, REFRESH_EVERY).unref()
  return {
    sign(type, claims) {
      const { current, kid } = inUse()
      if (!(current instanceof KeyObject)) throw new Problem('not_configured', CANNOT_SIGN)
      return signJws(current, kid, type, claims)
    },
    async signNote(name, text) {
      const { current, kid, publicKeys } = inUse()
      const publicKey = publicKeys.find(key => key.kid === kid)
      if (!(current instanceof KeyObject) || !publicKey) throw new Problem('not_configured', CANNOT_SIGN)
      return signedNote(text, name, current, publicKey.x)
    },
    async verify(type, jws) {
      const found = check(jws, inUse(), type)
      if (found !== UNKNOWN_KEY) return found
      await loading
      await refresh()
      const again = check(jws, keys, type)
      return again === UNKNOWN_KEY ? undefined : again
    },
    publicKeys: () => inUse().publicKeys,
    onEvents(events) {
      if (events.some(({ event }) => event === 'signing_key.rotated')) void refresh()
    },
    stop() {
      stopped = true
      clearInterval(refreshing)
    },
  }
}

function reportUnopened({ current }: LoadedSigningKeys, onFailure: Parts['onFailure']): void {
  if (current instanceof Error) onFailure(current)
}

const UNKNOWN_KEY = Symbol('unknown key')

function check(jws: string, { publicKeys }: LoadedSigningKeys, type: string) {
  try {
    return verifySigned(jws, { keys: publicKeys }, type)
  } catch (error) {
    if (error instanceof UnknownSigningKey) return UNKNOWN_KEY
    if (error instanceof SignatureRejected) return undefined
    throw error
  }
}
