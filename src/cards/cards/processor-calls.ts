import type { CardTerms } from '../../control/card-terms/index.ts'
import { findCustomer } from '../../identity/customers/index.ts'
import type { Mode } from '../../kernel/contract/actor.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { AnswerNow } from '../../kernel/contract/handlers.ts'
import type { ContextOf } from '../../kernel/contract/operation.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import type {
  CardHolder,
  NewCard,
  ProcessorCall,
  ProcessorControls,
  ProcessorFailure,
} from '../../ports/card-processor.ts'
import type { JsonName } from '../../values/json-names.ts'
import { type Cents, cents } from '../../values/money.ts'
import { excerpt } from '../../values/schemas.ts'
import type { stepsApi } from './api.ts'
import type { Card } from './card.ts'
import { type LockedCard, type LockedNumbers, lockNumbers } from './card-with-terms.ts'
import { beginCall, isCallDue, pendingCall, schedule } from './due.ts'
import { cardProcess } from './process.ts'

/** A reservation is stored until the answer is recorded, so it uses JSON names, and no bigint. */
export type StoredControls = Omit<ProcessorControls, LimitName> &
  Readonly<Record<JsonName<LimitName>, string | null>>
type LimitName = 'maxTransactionCents' | 'dailyLimitCents' | 'monthlyLimitCents'

export interface ProcessorRequest {
  readonly cardId: string
  readonly mode: Mode
  readonly now: string
}

export interface NumberRequest extends ProcessorRequest {
  readonly reference: string
  readonly requestedAt: string
  readonly ownerId: string
  readonly displayName: string
  readonly holder: CardHolder
  readonly controls: StoredControls
}

const asText = (amount: Cents | null): string | null => (amount === null ? null : String(amount))
const amountOf = (text: string | null): Cents | null => (text === null ? null : cents(text))

export const storedControls = (terms: CardTerms): StoredControls => ({
  maxTransactionEuros: asText(terms.maxTransactionCents),
  dailyLimitEuros: asText(terms.dailyLimitCents),
  monthlyLimitEuros: asText(terms.monthlyLimitCents),
  allowedCountries: terms.allowedCountries,
  allowedMccs: terms.allowedMccs,
  blockedMccs: terms.blockedMccs,
})

export const controlsFrom = ({
  maxTransactionEuros,
  dailyLimitEuros,
  monthlyLimitEuros,
  ...others
}: StoredControls): ProcessorControls => ({
  ...others,
  maxTransactionCents: amountOf(maxTransactionEuros),
  dailyLimitCents: amountOf(dailyLimitEuros),
  monthlyLimitCents: amountOf(monthlyLimitEuros),
})

export const newCardOf = ({ cardId, ownerId, displayName, holder, ...request }: NumberRequest): NewCard => ({
  cardId,
  ownerId,
  displayName,
  holder,
  requestedAt: new Date(request.requestedAt),
  controls: controlsFrom(request.controls),
})

export const callOf = (
  { now }: ProcessorRequest,
  reference: string,
  { requestId }: { readonly requestId: string },
): ProcessorCall => ({ reference, requestId, now: new Date(now) })

export const requestFor = (
  { id, mode }: Pick<Card, 'id' | 'mode'>,
  { now }: Pick<Context, 'now'>,
): ProcessorRequest => ({ cardId: id, mode, now: now.toISOString() })

/**
 * Every repetition has the same members, since a processor may compare them. The card's holder is the owner,
 * as an issuer must know one.
 */
export async function numberRequestFor(
  { card, terms }: Pick<LockedCard, 'card' | 'terms'>,
  { reference, requestedAt }: { readonly reference: string; readonly requestedAt: Date },
  { records, tenant, now }: Pick<Context, 'records' | 'tenant' | 'now'>,
): Promise<NumberRequest> {
  const owner = await findCustomer(records, tenant.ownerId)
  return {
    ...requestFor(card, { now }),
    reference,
    requestedAt: requestedAt.toISOString(),
    ownerId: card.ownerId,
    displayName: card.displayName,
    holder: owner.cardHolder(),
    controls: storedControls(terms),
  }
}

const UNANSWERED = {
  late: 'The processor does not answer. It is asked again.',
  unusable: 'The answer of the processor cannot be read. It is asked again.',
}

export const problemOf = (failure: ProcessorFailure): string =>
  failure.failure === 'refused' ? excerpt(failure.message) : UNANSWERED[failure.failure]

const isUnanswered = (problem: string | null): boolean =>
  problem === UNANSWERED.late || problem === UNANSWERED.unusable

export type StepContext = ContextOf<typeof stepsApi.issue>

export const NOT_ACTED = { acted: false }
export const NOT_DUE = new AnswerNow(NOT_ACTED)
export const ACTED = { acted: true }

/** An answer ends an earlier failure, and the next step is due at once. */
export function afterAnswer(locked: LockedNumbers, { now, wake }: Pick<StepContext, 'now' | 'wake'>): void {
  const { card } = locked
  Object.assign(card, { attempts: 0, callDueAt: null })
  if (isUnanswered(card.processorProblem)) card.processorProblem = null
  schedule(locked, now)
  wake(cardProcess, card)
}

export async function lockForCall(
  cardId: string,
  call: ReturnType<typeof pendingCall>,
  context: StepContext,
): Promise<LockedNumbers | null> {
  const { ports, tenant, now } = context
  const locked = await lockNumbers(cardId, context)
  if (!locked || pendingCall(locked) !== call || !isCallDue(locked.card, now)) return null
  const { name } = ports.cardProcessor(tenant.mode)
  const { processor } = locked.card
  if (processor !== name)
    throw new Problem('not_configured', `Its processor is ${processor}, and ${name} is configured.`)
  beginCall(locked.card, now)
  return locked
}
