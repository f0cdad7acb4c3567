import type { ReadContext, WriteContext } from '../../kernel/contract/context.ts'
import type { Scope } from '../../kernel/contract/scopes.ts'
import { updateOf } from '../../kernel/database/bulk-sql.ts'
import type { Subjects } from '../../statements/index.ts'
import { addMs, clock, minutes } from '../../values/clock.ts'
import {
  type AssertionRefusalCode,
  type assertionEvents,
  consumeAssertion,
  verifyAssertion,
  type WebauthnAssertion,
} from '../passkeys/index.ts'
import { livePlatformTenant, type SessionKind, type SessionRow, sessionsTable } from './session.ts'

/** The least time that a device has to fetch its key after the approval. */
const KEY_FETCH_TTL_MS = minutes(1)

type Signed = { readonly [K in SessionKind['name']]: { readonly kind: K; readonly members: Subjects[K] } }

/** What a person agrees to: the scopes of the request's key, and what is signed about it. */
export interface Grant<R extends SessionRow> {
  readonly request: R
  /** Null means all scopes of the person, also future ones. */
  readonly scopes: Scope[] | null
  readonly statement: Signed[keyof Signed]
}

interface Refused<C extends string = string> {
  readonly refused: C
}

/** Moves the row from the platform to the deciding tenant, which then owns it for good. */
const writeDecision = updateOf(sessionsTable, [
  'ownerId',
  'mode',
  'status',
  'personId',
  'consoleSessionId',
  'scopes',
  'decidedAt',
  'endedAt',
  'endsAt',
  'forgetAt',
  'updatedAt',
])

export async function decide<R extends SessionRow>(
  kind: SessionKind,
  request: R,
  to: 'approved' | 'denied',
  scopes: Scope[] | null,
  { sql, tenant, actor }: ReadContext,
): Promise<R> {
  const now = clock.real()
  const least = addMs(now, KEY_FETCH_TTL_MS)
  const endsAt = request.endsAt > least ? request.endsAt : least
  kind.machine.move(request, to)
  Object.assign(request, {
    ...tenant,
    personId: actor.id,
    consoleSessionId: String(actor.sessionId),
    scopes,
    decidedAt: now,
    endedAt: to === 'denied' ? now : null,
    endsAt,
    forgetAt: kind.becomesSession ? null : addMs(endsAt, kind.retentionMs),
    updatedAt: now,
  })
  await writeDecision(sql, livePlatformTenant, [request])
  return request
}

/** Approves what `lockGrant` finds, if the person has signed exactly that. */
export async function approve<R extends SessionRow, N extends Refused>(
  kind: SessionKind,
  assertion: WebauthnAssertion | undefined,
  lockGrant: () => Promise<Grant<R> | N>,
  context: WriteContext<typeof assertionEvents>,
): Promise<R | N | Refused<AssertionRefusalCode>> {
  const consent = await verifyAssertion(assertion, context)
  if (typeof consent === 'string') return { refused: consent }
  const grant = await lockGrant()
  if ('refused' in grant) return grant
  const refused = await consumeAssertion(consent, grant.statement, context)
  return refused ? { refused } : decide(kind, grant.request, 'approved', grant.scopes, context)
}
