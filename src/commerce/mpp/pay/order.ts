import {
  type AccessSubject,
  accessDenialEvents,
  cardIdsForIntents,
  denyCardAccess,
  loadAccessSubjects,
} from '../../../cards/access-events/index.ts'
import { machinePaymentTermsOfIntents } from '../../../control/intents/index.ts'
import type { Actor, Tenant, TenantNow } from '../../../kernel/contract/actor.ts'
import type { EmitContext, WriteContext } from '../../../kernel/contract/context.ts'
import type { EntityManager } from '../../../kernel/contract/entity-manager.ts'
import type { BatchItem, NonEmpty } from '../../../kernel/contract/handlers.ts'
import type { OperationSettings, Ports, Systems } from '../../../kernel/contract/ports.ts'
import { type Accepted, Problem, Refusal } from '../../../kernel/contract/problem.ts'
import { workflowIdOf } from '../../../kernel/contract/process.ts'
import type { Row, Sql } from '../../../kernel/contract/sql.ts'
import { FOR_UPDATE, FOR_UPDATE_BY_ID } from '../../../kernel/database/entity.ts'
import { tenantEntityManager } from '../../../kernel/database/orm.ts'
import type { StepBatch } from '../../../kernel/run/steps.ts'
import {
  DEFAULT_MARGIN_PERCENT,
  findNewestRates,
  type NewestRates,
} from '../../../money/exchange-rates/index.ts'
import { parseChallenges } from '../../../mpp/index.ts'
import { addMs, minutes } from '../../../values/clock.ts'
import { newId } from '../../../values/ids.ts'
import { machinePaymentEndEvents, type machinePaymentOrderEvents, mintRefusals } from '../api.ts'
import { BackgroundPayments, isTooLongToKeep, TOO_LONG_TO_KEEP } from '../background.ts'
import type { MppCredential } from '../credential.ts'
import { canonicalHost, merchantHost } from '../hosts.ts'
import { merchantRequestDigest, urlWithoutQuery } from '../merchant-request.ts'
import type { MachinePaymentProblem, MachinePaymentProblemCode, PayingMethods } from '../offers.ts'
import {
  actorOf,
  byId,
  endUnordered,
  INTERRUPTED,
  isDue,
  isWaitOver,
  MachinePayment,
  MachinePaymentAnswer,
  machinePaymentEvent,
  machinePaymentMachine,
  type OrderedRequest,
  openRequest,
  sealRequest,
} from '../payment.ts'
import { mppProcess } from '../process.ts'
import { protectRulesForIntents } from '../protect.ts'
import type { ProtectRule } from '../protect-rule.ts'
import { type DecidedPayment, merchantUrlProblem, payableHostProblem, payableMethods } from './ask.ts'
import { ASKER_NOT_ALLOWED, findAllowedAskers, mayStillAsk } from './look-again.ts'

interface Payable {
  readonly intentId: string
  readonly cardId?: string | undefined
}

/** What an item asks for. The actor is the one that has asked, also where a run goes on. */
interface Question {
  readonly payable: Payable
  readonly actor: Actor
  /** For a person’s approval of the intent. */
  readonly mayWait: boolean
}

interface Facts {
  readonly em: EntityManager
  readonly rules: readonly ProtectRule[]
  readonly rates: NewestRates | null
  readonly terms: Awaited<ReturnType<typeof machinePaymentTermsOfIntents>>
  readonly subjects: ReadonlyMap<Question, AccessSubject>
  readonly systems: Systems
  readonly tenant: Tenant
}

/** What decides whether a payment may be ordered. Locks nothing. */
async function loadFacts(
  questions: readonly Question[],
  { em, sql, tenant, now, systems }: LoadContext,
): Promise<Facts> {
  const payables = questions.map(({ payable }) => payable)
  const intentIds = payables.map(({ intentId }) => intentId)
  const context = { sql, tenant, em }
  const [chosen, rules, rates, terms] = await Promise.all([
    cardIdsForIntents(payables, context),
    protectRulesForIntents(intentIds, context),
    findNewestRates(tenant.mode, { sql, systems, now }),
    machinePaymentTermsOfIntents(intentIds, context),
  ])
  const queries = questions.map((question, n) => {
    const { actor, payable } = question
    return [question, { actor, cardId: chosen[n] ?? null, intentId: payable.intentId }] as const
  })
  const subjects = await loadAccessSubjects(new Map(queries), context)
  return { em, rules, rates, terms, subjects, systems, tenant }
}

interface LoadContext extends Pick<Ports, 'systems'> {
  readonly em: EntityManager
  readonly sql: Sql
  readonly tenant: Tenant
  readonly now: Date
}

type DenialContext = Parameters<typeof denyCardAccess>[3]

/**
 * Checks all conditions of a payment: the intent, the card, the address, the owner’s rules. Writes only a denial with all
 * its reasons, as for every request for card data.
 */
function decideOrder(
  id: string,
  question: Question,
  { request, challenge }: OrderedRequest,
  facts: Facts,
  context: DenialContext,
): DecidedPayment | Refusal {
  const { actor } = question
  const subject = subjectOf(question, facts)
  const url = URL.parse(request.url)
  const host = url && canonicalHost(url)
  const access = {
    way: 'mpp',
    sourceId: null,
    purpose: null,
    merchantHost: host,
    keyThumbprint: null,
  } as const
  const after = reasonsAgainst(request.url, subject, facts)
  const awaitsApproval = mayAwaitApproval(question, subject, context)
  const denial = denyCardAccess(subject, access, { after, awaitsApproval }, context)
  if (denial) return denial
  const { card, number, intent } = subject
  if (!card || !number || !intent || !url) throw new Error('granted without a card, an intent or an address')
  const { tenant, terms, rates } = facts
  return {
    mppCredentialId: id,
    ownerId: tenant.ownerId,
    mode: tenant.mode,
    asker: actor,
    agentId: card.agentId,
    delegationId: actor.delegationId ?? intent.delegationId,
    intentId: intent.id,
    intentMerchant: intent.merchant,
    heldCents: intent.holdCents ?? intent.amountCents,
    intentEndsAt: intent.expiresAt,
    rates,
    marginPercent: terms.get(intent.id)?.marginPercent ?? DEFAULT_MARGIN_PERCENT,
    ...methodsFor(intent.id, facts),
    cardId: card.id,
    numberId: number.id,
    processorCardId: number.processorCardId,
    host: canonicalHost(url),
    url: urlWithoutQuery(url),
    request,
    challenge,
    askedAt: context.now,
  }
}

const mayAwaitApproval = ({ mayWait }: Question, { intent }: AccessSubject, { now }: TenantNow): boolean =>
  mayWait && intent?.status === 'created' && intent.expiresAt > now

function subjectOf(question: Question, { subjects }: Facts): AccessSubject {
  const subject = subjects.get(question)
  if (!subject) throw new Error('a question without its subject')
  return subject
}

/** The methods of the policy that the card's processor can pay by. */
function methodsFor(intentId: string, { terms, systems, tenant }: Facts): Required<PayingMethods> {
  const { methods: allowed = [] } = terms.get(intentId) ?? {}
  const processor = systems.cardProcessor(tenant.mode)
  const all = payableMethods(processor)
  const methods = allowed.length > 0 ? payableMethods(processor, allowed) : all
  return { methods, excluded: all.filter(method => !methods.includes(method)) }
}

const EXCLUDED =
  'The policy allows machine payments only by methods (mppMethods) that the card’s processor cannot pay by.'

function reasonsAgainst(url: string, { card, intent }: AccessSubject, facts: Facts): MachinePaymentProblem[] {
  const { rules, systems, tenant } = facts
  const processor = systems.cardProcessor(tenant.mode)
  const agentId = card?.agentId ?? intent?.agentId
  const refused = merchantUrlProblem(url, { tenant, systems })
  const isOther =
    !refused && intent && agentId !== undefined
      ? payableHostProblem(new URL(url), { agentId, merchant: intent.merchant }, rules)
      : undefined
  const message = `${mintRefusals.network_tokens_missing[1]} (${processor.name})`
  const isActive = card?.status === 'active'
  const hasNoTokens = isActive && payableMethods(processor).length === 0
  const isExcluded = !hasNoTokens && isActive && intent && methodsFor(intent.id, facts).methods.length === 0
  return [
    ...(refused ? [refused] : []),
    ...(isOther ? [isOther] : []),
    ...(hasNoTokens ? [{ code: 'network_tokens_missing' as const, message }] : []),
    ...(isExcluded ? [{ code: 'payment_denied' as const, message: EXCLUDED }] : []),
  ]
}

/** A payment that has begun, whose shared payment token a person must confirm before it is sent. */
interface WaitingPayment
  extends Row,
    Pick<
      MppCredential,
      'id' | 'agentId' | 'delegationId' | 'intentId' | 'cardId' | 'sentBy' | 'requestDigest' | 'challengeId'
    > {}

const WAITING = `
select c.id, c.agent_id as "agentId", c.delegation_id as "delegationId", c.intent_id as "intentId", c.card_id as "cardId", c.sent_by as "sentBy",
  c.request_digest as "requestDigest", c.challenge_id as "challengeId"
from unnest($3::text[]) as w (intent)
cross join lateral (
  select * from mpp_credentials one where (one.owner_id, one.mode, one.intent_id) = ($1, $2, w.intent)
    and one.status = 'minted' and one.next_action is not null order by one.id desc limit 1) c`

/** Only the same request goes on: another one has not been decided. */
function isRepetition(
  waiting: WaitingPayment,
  { request, challenge }: OrderedRequest,
  sentBy: string,
): boolean {
  if (waiting.sentBy !== sentBy || waiting.requestDigest !== merchantRequestDigest(request)) return false
  const given = challenge === null ? [] : parseChallenges([challenge]).challenges
  return challenge === null || given.some(({ id }) => id === waiting.challengeId)
}

/** A payment that was ordered, or that a person has been asked to confirm. */
export interface Order {
  readonly id: string
  readonly isConfirmed: boolean
}

/** `claimed`: the request that has just recorded it goes on with it. It is not stored. */
export interface RecordedOrder {
  readonly stored: Order
  readonly claimed?: ClaimedOrder
}

export interface OrderState extends Facts {
  readonly asked: ReadonlyMap<BatchItem<unknown>, Question>
  readonly waiting: readonly WaitingPayment[]
  readonly payments: ReadonlyMap<string, MachinePayment>
  readonly answers: readonly MachinePaymentAnswer[]
  readonly settings: OperationSettings
  readonly background: BackgroundPayments
}

type OrderContext = DenialContext & EmitContext<typeof machinePaymentOrderEvents>

export async function loadOrders<I extends { readonly body: Payable }>(
  items: NonEmpty<BatchItem<I>>,
  sql: Sql,
  { systems, settings }: Pick<Ports, 'systems' | 'settings'>,
): Promise<OrderState> {
  const { tenant, now } = items[0]
  const em = tenantEntityManager(sql, { tenant, now })
  const background = await BackgroundPayments.load(items, { sql, tenant, now })
  const asked = new Map(
    items.map(item => [item, { payable: item.input.body, actor: item.actor, mayWait: item.prefersAsync }]),
  )
  const { sharedTokens } = systems.cardProcessor(tenant.mode)
  const intentIds = [...new Set(items.map(({ input }) => input.body.intentId))]
  const [facts, waiting] = await Promise.all([
    loadFacts([...asked.values()], { em, sql, tenant, now, systems }),
    sharedTokens ? sql<WaitingPayment>(WAITING, [tenant.ownerId, tenant.mode, intentIds]) : [],
  ])
  const ids = { $in: waiting.map(({ id }) => id) }
  const [payments, answers] =
    waiting.length === 0
      ? [[], []]
      : await Promise.all([
          em.find(MachinePayment, { id: ids }, FOR_UPDATE_BY_ID),
          em.find(MachinePaymentAnswer, { id: ids }),
        ])
  return {
    ...facts,
    asked,
    waiting,
    payments: byId(payments),
    answers,
    settings,
    background,
  }
}

export async function writeOrders({ em, background, tenant }: OrderState, sql: Sql): Promise<void> {
  await Promise.all([background.write({ sql, tenant }), em.flush()])
}

/** Records the payment before anything else is done for it, so that it goes on if this process dies. */
export function order(
  item: BatchItem<unknown>,
  ordered: OrderedRequest,
  sentBy: MachinePayment['sentBy'],
  state: OrderState,
  context: OrderContext,
): RecordedOrder | Refusal | Accepted | Problem {
  const question = state.asked.get(item)
  if (!question) throw new Error('an order without its question')
  if (item.prefersAsync && isTooLongToKeep(ordered)) return new Problem('body_too_large', TOO_LONG_TO_KEEP)
  const subject = subjectOf(question, state)
  const mayGoOn = reasonsAgainst(ordered.request.url, subject, state).length === 0
  const waiting = mayGoOn ? waitingPaymentOf(subject, state.waiting) : undefined
  if (waiting && isRepetition(waiting, ordered, sentBy)) {
    repeat(waiting, item, ordered, state)
    return { stored: { id: waiting.id, isConfirmed: true } }
  }
  const id = newId('mppcredential')
  const decided = decideOrder(id, question, ordered, state, context)
  if (decided instanceof Refusal) return decided
  const { agentId, delegationId, intentId, cardId } = decided
  const { background } = state
  if (item.prefersAsync && !background.hasRoomFor(agentId)) return context.refuse('too_many_waiting')
  const payment = createPayment({ id, agentId, delegationId, intentId, cardId, sentBy }, item, ordered, state)
  context.emit('mpp.payment.created', machinePaymentEvent(payment))
  if (item.prefersAsync) {
    const awaits = mayAwaitApproval(question, subject, item)
    return background.add(payment, context, awaits ? { endsAt: decided.intentEndsAt } : undefined)
  }
  const stored = { id, isConfirmed: false }
  if (sentBy === 'service' && state.settings.mppWorkflows === 'run') {
    payment.workflowId = workflowIdOf(mppProcess, id)
    context.wake(mppProcess, payment)
    return { stored }
  }
  return { stored, claimed: claim(payment, decided, item.holder, item.now) }
}

function claim(
  payment: MachinePayment,
  decided: DecidedPayment,
  holder: string | null,
  now: Date,
): ClaimedOrder {
  const { id } = payment
  const attempts = payment.attempts + 1
  Object.assign(payment, { attempts, claimedBy: holder, dueAt: addMs(now, ORDERING_MS) })
  return { decided, reference: attempts === 1 ? id : `${id}-${attempts}` }
}

/** How long one order may take: the merchant, its keys and the processor have ten seconds each, or less. */
const ORDERING_MS = minutes(1)

/** An order that was not minted for so long is not taken up again: it ends, and nothing is paid. */
const ORDER_LIFE_MS = minutes(5)

const askerOf = ({ actor, address }: BatchItem<unknown>) => {
  const { type, id, firstId, agentId, delegationId, budgetId, onlyAt, ownMandateId } = actor
  return {
    type,
    id,
    ...(firstId && { firstId }),
    agentId,
    delegationId,
    budgetId,
    onlyAt,
    ownMandateId,
    address,
  }
}

const createPayment = (
  members: Pick<MachinePayment, 'id' | 'agentId' | 'delegationId' | 'intentId' | 'cardId' | 'sentBy'>,
  item: BatchItem<unknown>,
  ordered: OrderedRequest,
  { em, systems: { vault } }: Pick<OrderState, 'em' | 'systems'>,
): MachinePayment => {
  const { now, prefersAsync } = item
  const url = new URL(ordered.request.url)
  return em.create(MachinePayment, {
    ...members,
    merchant: merchantHost(url),
    url: urlWithoutQuery(url),
    method: ordered.request.method,
    isAsync: prefersAsync,
    askedBy: askerOf(item),
    request: sealRequest(members.id, ordered, vault),
    // Nothing has claimed it: its run is late from now on.
    dueAt: now,
  })
}

/** Only while agent and card can still pay. */
const waitingPaymentOf = (
  { agent, card, number, intent }: AccessSubject,
  waiting: readonly WaitingPayment[],
) =>
  agent?.status === 'active' && card?.status === 'active' && number
    ? waiting.find(({ intentId, cardId }) => intentId === intent?.id && cardId === card.id)
    : undefined

/** The same request again, of a payment that waits for a person: it is sent as it comes now. */
function repeat(
  { id, agentId, delegationId, intentId, cardId, sentBy }: WaitingPayment,
  item: BatchItem<unknown>,
  ordered: OrderedRequest,
  state: OrderState,
): void {
  const payment =
    state.payments.get(id) ??
    createPayment({ id, agentId, delegationId, intentId, cardId, sentBy }, item, ordered, state)
  machinePaymentMachine.move(payment, 'minted')
  const request = sealRequest(id, ordered, state.systems.vault)
  Object.assign(payment, { request, askedBy: askerOf(item), dueAt: null })
  for (const answer of state.answers) if (answer.id === id) state.em.remove(answer)
}

export const orderingEvents = { ...accessDenialEvents, ...machinePaymentEndEvents }

interface ClaimState extends Facts {
  readonly questions: ReadonlyMap<string, Question>
  readonly payments: ReadonlyMap<string, MachinePayment>
  readonly held: ReadonlySet<string>
  /** The ids of the askers who still may pay. */
  readonly allowed: ReadonlySet<string>
}

/** Those whose claimant lives. A claim is free once its process has died, or its time is over. */
const HELD = `
select p.id from mpp_payments p where (p.owner_id, p.mode) = ($1, $2) and p.id = any($3::text[])
  and exists (select from process_leases l where l.id = p.claimed_by)`

/** Lets others order it, at once: this attempt has failed. */
export async function releaseOrder(id: string, holder: string, { em, now }: WriteContext): Promise<void> {
  const payment = await em.findOne(MachinePayment, { id }, FOR_UPDATE)
  if (payment?.status === 'ordering' && payment.claimedBy === holder)
    Object.assign(payment, { claimedBy: null, dueAt: now })
}

/** Ends a payment whose request has failed and cannot be repeated by its key, if nothing is minted. */
export async function interruptOrder(
  id: string,
  tx: WriteContext<typeof machinePaymentEndEvents>,
): Promise<void> {
  const payment = await tx.em.findOne(MachinePayment, { id }, FOR_UPDATE)
  if (payment) endUnordered(payment, INTERRUPTED, tx)
}

/** A payment that this process is to order now: everything is decided again. */
export interface ClaimedOrder {
  readonly decided: DecidedPayment
  /** Each attempt has a token of its own: the challenge, to which it is bound, is a new one. */
  readonly reference: string
}

const mayBeClaimed = (
  payment: MachinePayment,
  held: ReadonlySet<string>,
  { now }: Pick<BatchItem<unknown>, 'now'>,
): boolean =>
  payment.status === 'ordering'
    ? !held.has(payment.id) || isDue(payment, { now })
    : isWaitOver(payment, { now })

/** No caller waits for it any more. A request that repeats it goes on, however late. */
function hasLostCaller(
  { createdAt, sentBy, attempts, isAsync }: MachinePayment,
  { now, input: { isRequest } }: BatchItem<OrderClaim>,
): boolean {
  if (isRequest) return false
  const isLate = !isAsync && addMs(createdAt, ORDER_LIFE_MS) <= now
  // What a caller was to send itself has lost its caller.
  return isLate || (sentBy === 'caller' && attempts > 0)
}

const isDecided = (decided: object): decided is DecidedPayment => 'mppCredentialId' in decided

interface OrderClaim {
  readonly id: string
  readonly holder: string
  /** A caller waits for it. */
  readonly isRequest: boolean
}

export const claimOrder: StepBatch<
  typeof orderingEvents,
  OrderClaim,
  ClaimedOrder | 'none' | 'wait',
  ClaimState
> = {
  name: 'claim',

  async load(items, sql, { systems }) {
    const { tenant, now } = items[0]
    const em = tenantEntityManager(sql, { tenant, now })
    const ids = items.map(({ input }) => input.id)
    const [found, held] = await Promise.all([
      em.find(MachinePayment, { id: { $in: ids } }, FOR_UPDATE_BY_ID),
      sql<Row & { id: string }>(HELD, [tenant.ownerId, tenant.mode, ids]),
    ])
    const questions = new Map(
      found.map(one => [one.id, { payable: one, actor: actorOf(one, tenant), mayWait: false }] as const),
    )
    const [facts, allowed] = await Promise.all([
      loadFacts([...questions.values()], { em, sql, tenant, now, systems }),
      findAllowedAskers(
        found.map(payment => actorOf(payment, tenant)),
        { sql, tenant },
      ),
    ])
    const payments = byId(found)
    return { ...facts, questions, payments, held: new Set(held.map(({ id }) => id)), allowed }
  },

  decide(item, state, verdict) {
    const { id, holder } = item.input
    const [payment, question] = [state.payments.get(id), state.questions.get(id)]
    if (!question || !payment || payment.status === 'ended') return 'none'
    if (!mayBeClaimed(payment, state.held, item)) return 'wait'
    machinePaymentMachine.move(payment, 'ordering')
    const { em, systems } = state
    const refuse = (code: string, message = code) => new Refusal(400, code, message)
    const asker = { ...item, actor: question.actor, address: payment.askedBy.address }
    const context = { ...asker, ...verdict, em, systems, refuse }
    if (hasLostCaller(payment, item)) {
      endUnordered(payment, INTERRUPTED, context)
      return 'none'
    }
    const decided = mayStillAsk(payment, state.allowed)
      ? decideOrder(id, question, openRequest(payment, systems.vault), state, context)
      : ASKER_NOT_ALLOWED
    if (isDecided(decided)) return claim(payment, decided, holder, item.now)
    const code = decided.code as MachinePaymentProblemCode
    endUnordered(payment, { code, message: decided.message }, context)
    return 'none'
  },

  write: ({ em }) => em.flush(),
}
