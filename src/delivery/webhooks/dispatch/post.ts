import { randomInt } from 'node:crypto'
import type { Outbound, OutboundAnswer } from '../../../ports/outbound.ts'
import { clock } from '../../../values/clock.ts'
import { redactedExcerpt } from '../../../values/redaction.ts'
import type { Attempt } from '../delivery.ts'
import { retryAfterOf, type Taken } from './retry.ts'
import { type Secrets, signedHeaders } from './signature.ts'

/** What is sent to a receiver, the same at every attempt but for its id. */
export interface Letter {
  readonly url: string
  readonly deliveryId: string
  readonly eventId: string
  readonly event: string
  readonly body: string
  readonly requestId: string
}

/** In digits and a dot: receivers cut it off at the last `-`. */
const CHANCE = 2 ** 48 - 1

/**
 * The id of one attempt. How often the delivery was claimed may be forgotten with a PostgreSQL that is killed, so that
 * number alone would come again.
 */
export const attemptIdOf = (deliveryId: string, claim: number): string =>
  `${deliveryId}-${claim}.${randomInt(CHANCE)}`

const ACKNOWLEDGED_WITHIN_MS = 30_000
const READ_BYTES = 1_024

/** One attempt, whatever comes of it; where the receiver had just closed the connection it is made anew, as another one. */
export async function post(outbound: Outbound, letter: Letter, secrets: () => Secrets): Promise<Taken> {
  let base = beginning(letter.deliveryId)
  const headers = () => signedHeaders({ ...letter, ...base, at: new Date(base.at) }, secrets())
  const again = () => {
    base = beginning(`${letter.deliveryId}.2`)
    return headers()
  }
  try {
    const answer = await outbound.send({
      ...{ url: letter.url, method: 'POST', headers: headers(), again, body: letter.body },
      ...{ timeoutMs: ACKNOWLEDGED_WITHIN_MS, maxBytes: READ_BYTES },
    })
    return takenOf(base, answer)
  } catch (error) {
    return unsent(base, `It could not be sent: ${(error as Error).message}`)
  }
}

type Base = Pick<Attempt, 'deliveryId' | 'at'>

const beginning = (deliveryId: string): Base => ({ deliveryId, at: clock.real().toISOString() })

const unsent = (base: Base, error: string): Taken => ({
  attempt: { ...base, status: null, latencyMs: null, error, responseStart: null },
  succeeded: false,
  retryAfterMs: null,
})

function takenOf(base: Base, answer: OutboundAnswer): Taken {
  if (answer.kind === 'refused') return unsent(base, answer.message)
  const { latencyMs } = answer
  if (answer.kind === 'failed') {
    const taken = unsent(base, answer.message)
    return { ...taken, attempt: { ...taken.attempt, latencyMs } }
  }
  const { status, headers, body } = answer
  const succeeded = status >= 200 && status < 300
  const error = succeeded ? null : refusalOf(status)
  return {
    attempt: { ...base, status, latencyMs, error, responseStart: redactedExcerpt(body) },
    succeeded,
    retryAfterMs: succeeded ? null : retryAfterOf(headers['retry-after'], clock.real()),
  }
}

function refusalOf(status: number): string {
  if (status === 410) return 'The receiver answered 410: it wants nothing more.'
  if (status >= 300 && status < 400)
    return `The receiver answered ${status}: redirects are not followed. Give the address that it leads to.`
  return `The receiver answered ${status}; a 2xx is what acknowledges a delivery.`
}
