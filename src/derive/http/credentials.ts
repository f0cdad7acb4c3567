import { hash } from 'node:crypto'
import type { Actor } from '../../kernel/contract/actor.ts'
import type { Areas, AuthenticateSecret } from '../../kernel/contract/area.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import { type Database, sqlOn } from '../../kernel/database/prepared-sql.ts'
import { databaseErrorAsProblem } from '../../kernel/database/retry.ts'
import { clock } from '../../values/clock.ts'

/**
 * How long a looked-up credential is trusted, and so the longest time until a credential that another process
 * revoked stops here. A busy key costs ten look-ups a second, and processes need not notify each other.
 */
export const CREDENTIAL_CACHE_MS = 90
const REMEMBERED = 10_000

export interface CredentialLookup {
  /**
   * Returns undefined for an unknown, expired or revoked secret. A result older than `trustedFor`
   * milliseconds is looked up again.
   */
  holderOf(secret: string, isBackground?: boolean, trustedFor?: number): Promise<Actor | undefined>
  readonly endings: ReadonlySet<string>
  onEvents(events: readonly { readonly event: string }[]): void
}

export function createCredentialLookup(areas: Areas, database: Database): CredentialLookup {
  const byPrefix = authenticators(areas)
  const endings = new Set(Object.values(areas).flatMap(({ endsCredentials }) => endsCredentials))
  const known = new Map<string, { holder: Promise<Actor | undefined>; since: number }>()
  return {
    endings,
    holderOf(secret, isBackground = false, trustedFor = CREDENTIAL_CACHE_MS) {
      const authenticate = byPrefix.get(secret.slice(0, secret.indexOf('_')))
      if (!authenticate) return Promise.resolve(undefined)
      // A person's request is recorded as activity, even right after a request that the page sent by itself.
      const name = hash('sha256', secret, 'base64url') + (isBackground ? ' in the background' : '')
      const now = clock.ticks()
      const found = known.get(name)
      if (found && found.since + trustedFor > now) return found.holder
      if (known.size >= REMEMBERED) known.clear()
      const holder = authenticate(secret, sqlOn(database.pool), isBackground).catch((error: unknown) => {
        if (!(error instanceof Problem)) known.delete(name)
        throw databaseErrorAsProblem(error)
      })
      known.set(name, { holder, since: now })
      return holder
    },
    onEvents(events) {
      if (events.some(({ event }) => endings.has(event))) known.clear()
    },
  }
}

const authenticators = (areas: Areas): ReadonlyMap<string, AuthenticateSecret> =>
  new Map(Object.values(areas).flatMap(area => Object.entries(area.credentials)))
