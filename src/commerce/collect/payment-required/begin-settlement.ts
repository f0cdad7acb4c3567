import type { Context } from '../../../kernel/contract/context.ts'
import { lockTenant } from '../../../kernel/database/tenant-lock.ts'
import { newId } from '../../../values/ids.ts'
import type { paymentEvents } from '../events.ts'
import { beginPayment, type LockedRequest, lockRequest, paymentUnderWay, writeRequests } from '../payments.ts'
import { dueEuros, isPayable } from '../request.ts'
import type { Article } from './article.ts'
import { firstDueAt, Settlement } from './settlement.ts'

/** A charge that is to begin. */
export interface Beginning
  extends Pick<Settlement, 'challengeId' | 'credentialDigest' | 'network' | 'last4' | 'handle'> {
  readonly subject: Article['subject']
  readonly amountEuros: Settlement['amountEuros']
  readonly descriptor: string
}

type BeginContext = Context<never, typeof paymentEvents>

/** A charge that has begun, or why it does not: another one has, or what is to be paid has changed meanwhile. */
export type Begun =
  | { readonly settlement: Settlement }
  | { readonly known: Settlement }
  | 'payment_under_way'
  | 'changed'

/**
 * Stores a charge before anything is sent, so that it is made once: whoever comes with the same challenge finds it. The
 * caller commits, and charges under the id of the challenge.
 */
export async function beginSettlement(beginning: Beginning, context: BeginContext): Promise<Begun> {
  const { challengeId, subject } = beginning
  // Sent right behind the lock, so it reads what whoever had the lock before has left.
  const [locked, known] = await Promise.all([
    lockSubject(subject, challengeId, context),
    settlementOf(challengeId, context),
  ])
  if (known) return { known }
  const blocker = locked && blockerOf(locked, beginning, context.now)
  if (blocker) return blocker
  const settlement = newSettlement(beginning, locked, context)
  if (locked) context.sendAlong(writeRequests(context.sql, context.tenant, [locked]))
  return { settlement }
}

/** The settlement of a challenge, if there is one. */
export const settlementOf = (
  challengeId: string,
  { records }: Pick<BeginContext, 'records'>,
): Promise<Settlement | null> => records.findOne(Settlement, { challengeId })

/** Whoever pays the same thing at once waits here. */
async function lockSubject(
  { requestId }: Article['subject'],
  challengeId: string,
  context: BeginContext,
): Promise<LockedRequest | undefined> {
  if (requestId !== null) return lockRequest(requestId, context)
  await lockTenant(context, `settlement ${challengeId}`)
  return undefined
}

/** Why a charge for a request does not begin: another one has, or what is to be paid has changed. */
export function blockerOf(
  locked: LockedRequest,
  { amountEuros }: Pick<Beginning, 'amountEuros'>,
  now: Date,
): 'payment_under_way' | 'changed' | undefined {
  if (paymentUnderWay(locked)) return 'payment_under_way'
  const { request } = locked
  return isPayable(request, now) && dueEuros(request) === amountEuros ? undefined : 'changed'
}

/** A charge that is to be stored; the caller writes the request that it pays. */
export function newSettlement(
  { subject, ...members }: Beginning,
  locked: LockedRequest | undefined,
  context: Pick<BeginContext, 'records' | 'tenant' | 'now' | 'emit' | 'wake'>,
): Settlement {
  const { records, now } = context
  const id = newId('settlement')
  const settlement = records.create(Settlement, { id, ...subject, ...members, dueAt: firstDueAt(now) })
  if (locked) {
    const { amountEuros, walletId } = settlement
    const at = walletId === null ? {} : { walletId }
    beginPayment(locked, { way: 'card', amountEuros, sourceId: id, ...at }, context)
  }
  return settlement
}

/** The charge of a settlement as the acquirer is told it, the token apart. */
export const chargeOf = ({ handle, amountEuros, challengeId, descriptor }: Settlement) => ({
  handle,
  amountEuros,
  reference: challengeId,
  descriptor,
})
