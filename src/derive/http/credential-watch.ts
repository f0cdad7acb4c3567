import { hash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { Problem } from '../../kernel/contract/problem.ts'
import { CREDENTIAL_CACHE_MS } from './credentials.ts'
import type { RequestCredentials } from './request-credentials.ts'

/** The most callers that one round checks. With more callers, each is checked less often. */
const MAX_PER_ROUND = 50

interface Watched {
  readonly isAdmitted: () => Promise<unknown>
  readonly ends: Set<() => void>
}

/**
 * Checks whether the callers of endless responses are still authorized, so that a response ends when a
 * request would be refused. Responses with the same credential share a check.
 */
export class CredentialWatch {
  readonly #endings: ReadonlySet<string>
  readonly #watched = new Map<string, Watched>()
  #turning: Promise<void> | undefined

  constructor(endings: ReadonlySet<string>) {
    this.#endings = endings
  }

  watch(presented: RequestCredentials, isAdmitted: Watched['isAdmitted'], end: () => void): () => void {
    const name = nameOf(presented)
    const watched = this.#watched.get(name) ?? { isAdmitted, ends: new Set() }
    watched.ends.add(end)
    this.#watched.set(name, watched)
    this.#turning ??= this.#takeTurns()
    return () => {
      watched.ends.delete(end)
      if (watched.ends.size === 0 && this.#watched.get(name) === watched) this.#watched.delete(name)
    }
  }

  onEvents = (events: readonly { readonly event: string }[]): void => {
    if (this.#watched.size > 0 && events.some(({ event }) => this.#endings.has(event)))
      void this.#ask(this.#watched.size)
  }

  async #takeTurns(): Promise<void> {
    while (this.#watched.size > 0) {
      await pause(CREDENTIAL_CACHE_MS, undefined, { ref: false })
      await this.#ask(MAX_PER_ROUND)
    }
    this.#turning = undefined
  }

  async #ask(most: number): Promise<void> {
    const asked = [...this.#watched].slice(0, most)
    for (const [name, watched] of asked) {
      this.#watched.delete(name)
      this.#watched.set(name, watched)
    }
    for (let n = 0; n < asked.length; n += MAX_PER_ROUND)
      await Promise.all(asked.slice(n, n + MAX_PER_ROUND).map(([, watched]) => endIfRefused(watched)))
  }
}

/** If the check fails for a reason other than the caller, the next round tries again. */
async function endIfRefused({ isAdmitted, ends }: Watched): Promise<void> {
  const error: unknown = await isAdmitted().then(
    () => undefined,
    reason => reason,
  )
  if (error instanceof Problem && error.status < 500) for (const end of [...ends]) end()
}

const nameOf = ({ authorization, browser }: RequestCredentials): string =>
  hash('sha256', authorization ?? browser?.session ?? '', 'base64url')
