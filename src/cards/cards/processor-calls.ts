import type { CardTerms } from '../../control/card-terms/index.ts'
import { findCustomer } from '../../identity/customers/index.ts'
import type { Mode } from '../../kernel/contract/actor.ts'
import type { CallerContext, EmitContext, WriteContext } from '../../kernel/contract/context.ts'
import { ifConfigured } from '../../kernel/contract/problem.ts'
import type {
  CardHolder,
  NewCard,
  ProcessorCall,
  ProcessorControls,
  ProcessorFailure,
} from '../../ports/card-processor.ts'
import type { JsonName } from '../../values/json-names.ts'
import { type Cents, cents } from '../../values/money.ts'
import { truncateText } from '../../values/schemas.ts'
import type { Card } from './card.ts'
import { type LockedCard, type LockedCardNumbers, lockCardNumbers } from './card-with-terms.ts'
import { beginProcessorCall, isProcessorCallDue, pendingProcessorCall, scheduleCardStep } from './due.ts'
import { cardProcess } from './process.ts'

/** A reservation is stored until the answer is recorded, so it uses JSON names, and no bigint. */
export type StoredCardControls = Omit<ProcessorControls, LimitName> &
  Readonly<Record<JsonName<LimitName>, string | null>>
type LimitName = 'maxTransactionCents' | 'dailyLimitCents' | 'monthlyLimitCents'

export interface CardProcessorRequest {
  readonly cardId: string
  readonly mode: Mode
  readonly now: string
  readonly requestId: string
}

export interface CardNumberRequest extends CardProcessorRequest {
  readonly reference: string
  readonly requestedAt: string
  readonly ownerId: string
  readonly displayName: string
  readonly holder: CardHolder
  readonly controls: StoredCardControls
}

const asText = (amount: Cents | null): string | null => (amount === null ? null : String(amount))
const amountOf = (text: string | null): Cents | null => (text === null ? null : cents(text))

export const storedControls = (terms: CardTerms): StoredCardControls => ({
  maxTransactionEuros: asText(terms.maxTransactionCents),
  dailyLimitEuros: asText(terms.dailyLimitCents),
  monthlyLimitEuros: asText(terms.monthlyLimitCents),
  allowedCountries: terms.allowedCountries,
  allowedMccs: terms.allowedMccs,
  blockedMccs: terms.blockedMccs,
})

export const processorControlsFrom = ({
  maxTransactionEuros,
  dailyLimitEuros,
  monthlyLimitEuros,
  ...others
}: StoredCardControls): ProcessorControls => ({
  ...others,
  maxTransactionCents: amountOf(maxTransactionEuros),
  dailyLimitCents: amountOf(dailyLimitEuros),
  monthlyLimitCents: amountOf(monthlyLimitEuros),
})

export const newProcessorCard = ({
  cardId,
  ownerId,
  displayName,
  holder,
  ...request
}: CardNumberRequest): NewCard => ({
  cardId,
  ownerId,
  displayName,
  holder,
  requestedAt: new Date(request.requestedAt),
  controls: processorControlsFrom(request.controls),
})

export const processorCallFor = (
  { now, requestId }: CardProcessorRequest,
  reference: string,
): ProcessorCall => ({ reference, requestId, now: new Date(now) })

export const cardProcessorRequest = (
  { id, mode }: Pick<Card, 'id' | 'mode'>,
  { now, requestId }: CallerContext,
): CardProcessorRequest => ({ cardId: id, mode, now: now.toISOString(), requestId })

/**
 * Every repetition has the same members, since a processor may compare them. The card's holder is the owner,
 * as an issuer must know one.
 */
export async function cardNumberRequestFor(
  { card, terms }: Pick<LockedCard, 'card' | 'terms'>,
  { reference, requestedAt }: { readonly reference: string; readonly requestedAt: Date },
  context: WriteContext,
): Promise<CardNumberRequest> {
  const { em, tenant } = context
  const owner = await findCustomer(em, tenant.ownerId)
  return {
    ...cardProcessorRequest(card, context),
    reference,
    requestedAt: requestedAt.toISOString(),
    ownerId: card.ownerId,
    displayName: card.displayName,
    holder: owner.cardHolder(),
    controls: storedControls(terms),
  }
}

const UNANSWERED = {
  late: 'The processor does not answer. The service will try again.',
  unusable: 'The processor’s answer cannot be read. The service will try again.',
  unconfigured: 'The card’s processor is not configured. The service will try again.',
}

export const processorProblemText = (failure: ProcessorFailure): string =>
  failure.failure === 'refused' ? truncateText(failure.message) : UNANSWERED[failure.failure]

const isUnanswered = (problem: string | null): boolean =>
  Object.values(UNANSWERED).some(text => text === problem)

/** An answer ends an earlier failure, and the next step is due at once. */
export function clearProcessorCall(locked: LockedCardNumbers, { now, wake }: EmitContext): void {
  const { card } = locked
  Object.assign(card, { attempts: 0, callDueAt: null })
  if (isUnanswered(card.processorProblem)) card.processorProblem = null
  scheduleCardStep(locked, now)
  wake(cardProcess, card)
}

/**
 * Null if this call is not due, or if another processor than the card's is configured. Otherwise no other call is made for
 * the card until its answer is recorded.
 */
export async function lockForProcessorCall(
  cardId: string,
  call: ReturnType<typeof pendingProcessorCall>,
  context: WriteContext,
): Promise<LockedCardNumbers | null> {
  const { systems, tenant, now } = context
  const locked = await lockCardNumbers(cardId, context)
  if (!locked || pendingProcessorCall(locked) !== call || !isProcessorCallDue(locked.card, now)) return null
  const { card } = locked
  beginProcessorCall(card, now)
  const configured = ifConfigured(() => systems.cardProcessor(tenant.mode))
  if (configured?.name === card.processor) return locked
  card.processorProblem = UNANSWERED.unconfigured
  scheduleCardStep(locked, now)
  return null
}
