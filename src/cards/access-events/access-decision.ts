import type { Intent } from '../../control/intents/index.ts'
import type { CallerContext, DecideContext, EmitContext } from '../../kernel/contract/context.ts'
import type { EntityManager } from '../../kernel/contract/entity-manager.ts'
import type { Refusal } from '../../kernel/contract/problem.ts'
import type { Card } from '../cards/index.ts'
import { AccessEvent, type AccessReason, type AccessWay } from './access-event.ts'
import type { accessDenialEvents, accessEvents } from './api.ts'
import { type AccessSubject, accessBlockers } from './subject.ts'

export interface CardAccessRequest {
  readonly way: AccessWay
  readonly sourceId: string | null
  readonly purpose: string | null
  readonly merchantHost: string | null
  readonly keyThumbprint: string | null
}

interface AccessTarget {
  readonly card: Pick<Card, 'id' | 'agentId'> | null
  readonly cardOfOther: string | null
  readonly intent: Pick<Intent, 'id' | 'agentId' | 'delegationId'> | null
}

/** A batch of payments has no more of a `WriteContext`. */
type Recording = CallerContext & { readonly em: EntityManager }

function create(
  { card, cardOfOther, intent }: AccessTarget,
  accessRequest: CardAccessRequest,
  reasons: AccessReason[],
  { actor, em, address, requestId }: Recording,
): AccessEvent {
  return em.create(AccessEvent, {
    ...accessRequest,
    agentId: cardOfOther ? null : (card?.agentId ?? intent?.agentId ?? actor.agentId),
    delegationId: actor.delegationId ?? intent?.delegationId ?? null,
    actorType: actor.type as 'key' | 'console' | 'agent',
    actorId: actor.id,
    cardId: card?.id ?? cardOfOther,
    intentId: intent?.id ?? null,
    decision: reasons.length > 0 ? 'denied' : 'granted',
    reasons,
    address,
    requestId,
  })
}

export const accessEventData = ({ id, reasons, ...accessRequest }: AccessEvent) => ({
  accessEventId: id,
  cardId: accessRequest.cardId,
  agentId: accessRequest.agentId,
  intentId: accessRequest.intentId,
  way: accessRequest.way,
  decision: accessRequest.decision,
  merchantHost: accessRequest.merchantHost,
  reasons: reasons.map(({ code }) => code),
})

type DenialContext = Recording & DecideContext<string, typeof accessDenialEvents>

/** Reasons that only the caller can judge: the session or credential has ended, or its reader is not allowed. */
interface CallerReasons {
  readonly before?: readonly AccessReason[]
  readonly after?: readonly AccessReason[]
  /** The caller waits until a person has approved the intent: that it is not approved yet is no reason. */
  readonly awaitsApproval?: boolean
}

/**
 * Judges whether the card may be opened, and records a denial with all its reasons. The refusal commits, so
 * that every denied attempt is visible. From then on an opened card may count towards the token’s maximum.
 */
export function denyCardAccess(
  subject: AccessSubject,
  accessRequest: CardAccessRequest,
  { before = [], after = [], awaitsApproval = false }: CallerReasons,
  context: DenialContext,
): Refusal | undefined {
  const blockers = accessBlockers(subject, context.now)
  const own = awaitsApproval ? blockers.filter(({ code }) => code !== 'intent_not_approved') : blockers
  const reasons = [...before, ...own, ...after]
  const [first] = reasons
  if (!first) {
    if (subject.countedCard) subject.countedCard.tokenId = context.actor.budgetId ?? null
    return undefined
  }
  if (subject.card || subject.cardOfOther || subject.intent) {
    const denied = create(subject, accessRequest, reasons, context)
    context.emit('card.access_denied', accessEventData(denied))
  }
  return context.refuse(first.code, reasons.map(({ message }) => message).join(' '))
}

/** Records before the processor is called, so that no data leaves without a record. */
export function grantCardAccess(
  subject: AccessTarget,
  accessRequest: CardAccessRequest,
  context: Recording & EmitContext<typeof accessEvents>,
): AccessEvent {
  const granted = create(subject, accessRequest, [], context)
  context.emit('card.access_granted', accessEventData(granted))
  return granted
}
