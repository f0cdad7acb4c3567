import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import type { Tenant } from '../../../kernel/contract/actor.ts'
import type { EntityManager } from '../../../kernel/contract/entity-manager.ts'
import { changesAt, type StreamedEvent } from '../../../kernel/contract/follow.ts'
import {
  type BatchedStep,
  type ExternalCallContext,
  HotCall,
  type HotExternalHandler,
  recordInBatch,
} from '../../../kernel/contract/handlers.ts'
import type { HandlerOf, InputOf } from '../../../kernel/contract/operation.ts'
import type { RunningService } from '../../../kernel/contract/ports.ts'
import { Problem } from '../../../kernel/contract/problem.ts'
import type { RecordRef } from '../../../kernel/contract/step.ts'
import { FOR_UPDATE_BY_ID, withMembers } from '../../../kernel/database/entity.ts'
import { tenantEntityManager } from '../../../kernel/database/orm.ts'
import { parseChallenges } from '../../../mpp/index.ts'
import type { Vault } from '../../../ports/vault.ts'
import { clock, minutes } from '../../../values/clock.ts'
import type { mppApi, orderEvents } from '../api.ts'
import { MppCredential } from '../credential.ts'
import { buildMerchantRequest } from '../merchant-request.ts'
import type { MachinePaymentProblemCode } from '../offers.ts'
import { recoverSent } from '../outcome.ts'
import {
  type AnswerToCaller,
  byId,
  MachinePayment,
  MachinePaymentAnswer,
  type OrderedRequest,
  openAnswer,
  openMinted,
  type PaidAnswer,
} from '../payment.ts'
import { type MachinePaymentState, type MachinePaymentSteps, type NextStep, payMerchant } from '../story.ts'
import { loadOrders, type Order, type OrderState, order, type RecordedOrder, writeOrders } from './order.ts'
import type { CarriedPayment } from './send.ts'

interface Steps extends MachinePaymentSteps {
  readMachinePayment(payment: RecordRef): Promise<MachinePaymentState>
  interruptOrder(payment: RecordRef): Promise<void>
}

/** How long a run has for each step to begin: after that the request takes it. */
const RUN_BEGINS_MS = 500
/** How long no run is waited for after one has not begun: its worker is away. */
const AWAY_MS = 5_000
/** Longer than merchant and processor may take together, and shorter than a request may be under way. */
const WAIT_MS = minutes(1.5)
const LOOK_EVERY_MS = 1_000

let runsAreAwayUntil = Number.NEGATIVE_INFINITY

/**
 * Comes to the outcome of a payment: by its run, or, where none has begun in time, by the same steps here. States in the
 * database let one process order and send it. Gives the answer where it was taken here.
 */
async function carryOut(
  { stored: { id, isConfirmed }, claimed }: RecordedOrder,
  tenant: Tenant,
  { service, settings, requestId }: ExternalCallContext,
): Promise<AnswerToCaller | undefined> {
  const payment = { id, ...tenant }
  const carried: CarriedPayment = { claimed }
  const steps = service.activitiesFor(requestId) as unknown as Steps
  const pay = (from: NextStep) =>
    payMerchant({ ...payment, carried } as RecordRef, from, steps).catch(async (error: unknown) => {
      carried.isLeft = true
      // A payment whose request has failed is not ordered later, unless something was minted.
      await steps.interruptOrder(payment).catch(() => undefined)
      throw error
    })
  if (isConfirmed || claimed) {
    if ((await pay(claimed ? 'order' : 'token')) === 'none') return carried.answer
  }
  const isByRun = settings.mppWorkflows === 'run' && clock.ticks() >= runsAreAwayUntil
  let [seen, patientUntil] = ['', 0]
  for await (const _ of looksAt(id, tenant, service)) {
    const { next } = await steps.readMachinePayment(payment)
    if (next === 'none') break
    const now = clock.ticks()
    if (isByRun && seen !== next) [seen, patientUntil] = [next, now + RUN_BEGINS_MS]
    if (next === 'wait' || now < patientUntil) continue
    if (isByRun && next === 'order') runsAreAwayUntil = now + AWAY_MS
    if ((await pay(next)) === 'none') break
  }
  return carried.answer
}

/** Whenever something about the payment was committed, when a run should have begun, and each second. */
async function* looksAt(
  id: string,
  tenant: Tenant,
  { waitForEvents }: Pick<RunningService, 'waitForEvents'>,
): AsyncGenerator<void> {
  const over = new AbortController()
  const latest = clock.ticks() + WAIT_MS
  const isWanted = ({ data }: StreamedEvent) => data.credentialId === id || data.paymentId === id
  const changes = changesAt(waitForEvents, { tenant, isWanted, ending: over.signal }, LOOK_EVERY_MS)
  yield
  let next = changes.next()
  try {
    for (let waitMs = RUN_BEGINS_MS; clock.ticks() < latest; waitMs = LOOK_EVERY_MS) {
      const change = await Promise.race([next, pause(waitMs, undefined, { ref: false })])
      if (change) next = changes.next()
      yield
    }
  } finally {
    over.abort()
  }
}

interface Answers {
  readonly em: EntityManager
  readonly vault: Vault
  readonly answers: ReadonlyMap<string, AnswerToCaller>
  readonly payments: ReadonlyMap<string, MachinePayment>
  readonly credentials: ReadonlyMap<string, MppCredential>
}

/** An answer can be long: other requests have their turn between two. */
async function openedOf(kept: readonly MachinePaymentAnswer[], vault: Vault) {
  const opened = new Map<string, AnswerToCaller>()
  for (const answer of kept) {
    opened.set(answer.id, openAnswer(answer, vault))
    await nextTurn()
  }
  return opened
}

/** The answer is undefined where another process has taken it. */
interface Answered extends Order {
  readonly answer: AnswerToCaller | undefined
}

type AnswerStep<R> = BatchedStep<Answered, R, MachinePaymentProblemCode, Record<never, never>, Answers>

/** Gives the answer that the last step has kept for the caller. */
const answerStep = <R>(
  shown: (id: string, answers: Answers, answer: { readonly body: PaidAnswer } | undefined) => R | undefined,
): AnswerStep<R> => ({
  name: 'answer',
  lanes: null,

  async load(items, sql, { systems: { vault } }) {
    const { tenant, now } = items[0]
    const em = tenantEntityManager(sql, { tenant, now })
    const unknown = items.flatMap(({ input }) => (input.answer ? [] : [input.id]))
    const ids = { $in: unknown }
    const [answers, payments, credentials] =
      unknown.length === 0
        ? [[], [], []]
        : await Promise.all([
            em.find(MachinePaymentAnswer, { id: ids }),
            em.find(MachinePayment, { id: ids }, FOR_UPDATE_BY_ID),
            em.find(MppCredential, { id: ids }),
          ])
    return {
      em,
      vault,
      answers: await openedOf(answers, vault),
      payments: byId(payments),
      credentials: byId(credentials),
    }
  },

  decide({ input: { id, answer: known } }, state, { refuse }) {
    const answer = known ?? state.answers.get(id)
    if (answer && 'code' in answer) return refuse(answer.code, answer.message)
    return shown(id, state, answer) ?? new Problem('outcome_unknown', underWay(id), { 'Retry-After': '5' })
  },

  write: ({ em }) => em.flush(),
})

/** It is not stored under the key of the request: a repetition waits for the outcome. */
const underWay = (id: string): string =>
  `The payment ${id} is still under way, or its answer is not kept any more. GET /v1/mpp/payments/${id} shows its outcome. Do not pay in another way.`

const paidStep = answerStep<PaidAnswer>((_id, _answers, answer) => answer?.body)

/** The credential is shown once. */
const mintedStep = answerStep<MintedAnswer>((id, { payments, credentials, vault }) => {
  const [payment, credential] = [payments.get(id), credentials.get(id)]
  if (!payment?.credential || !credential) return undefined
  const { header, credential: value } = openMinted(id, payment.credential, vault)
  Object.assign(payment, { credential: null, request: null })
  return withMembers(credential, { header: shownHeader(header), credential: value })
})

type MintedAnswer = MppCredential & { readonly header: string; readonly credential: string }

const shownHeader = (header: string): string =>
  header === 'authorization' ? 'Authorization' : 'Payment-Authorization'

type Asking = { readonly body: { readonly intentId: string; readonly cardId?: string | undefined } }

/** What a request of 0.7.0 has stored: only a credential that was sent is looked after. */
interface StageOf070 {
  readonly stage: string
  readonly credentialId?: string
}

const orderOf070 = ({ stage, credentialId }: StageOf070): Order | undefined =>
  stage === 'send' && credentialId !== undefined ? { id: credentialId, isConfirmed: false } : undefined

type Stored = Order | StageOf070

type Paying<I, R> = HotExternalHandler<I, R, MachinePaymentProblemCode, typeof orderEvents, Stored, never>

/** Orders the payment and commits that, comes to its outcome, and answers. */
const paying = <I extends Asking, R>(
  sentBy: MachinePayment['sentBy'],
  orderedBy: (input: I) => OrderedRequest,
  answers: AnswerStep<R>,
): Paying<I, R> => {
  const goOn = (ordered: RecordedOrder, tenant: Tenant) =>
    new HotCall<Stored, never>(ordered.stored, async outside => {
      const answer = await carryOut(ordered, tenant, outside)
      const paid = answer && 'body' in answer ? answer.body : undefined
      return recordInBatch(answers, { ...ordered.stored, answer }, paid)
    })
  return {
    begin: {
      by: 'writing',
      step: {
        name: 'order',
        lanes: null,
        load: loadOrders,
        decide(item, state: OrderState, verdict) {
          const { em } = state
          const ordered = order(item, orderedBy(item.input), sentBy, state, { ...item, ...verdict, em })
          return 'stored' in ordered ? goOn(ordered, item.tenant) : ordered
        },
        write: writeOrders,
      },
    },
    record(answer) {
      throw new Error(`${answer}: recorded in a batch`)
    },
    async recover(stored, context) {
      const ordered = 'stage' in stored ? orderOf070(stored) : stored
      if (!ordered) return context.refuse('pay_interrupted')
      await recoverSent(ordered.id, context)
      return goOn({ stored: ordered }, context.tenant)
    },
  }
}

export const payMachinePayment: HandlerOf<typeof mppApi.pay, Stored, never> = paying(
  'service',
  ({ body: { intentId: _, cardId: __, ...request } }: InputOf<typeof mppApi.pay>) => ({
    request: buildMerchantRequest(request),
    challenge: null,
  }),
  paidStep,
)

function requestedUrl(url: string | undefined, challenge: string): string {
  const [first] = parseChallenges([challenge]).challenges
  return url ?? `https://${first?.realm ?? ''}`
}

export const mintCredential: HandlerOf<typeof mppApi.mint, Stored, never> = paying(
  'caller',
  ({ body: { intentId: _, cardId: __, challenge, url, ...request } }: InputOf<typeof mppApi.mint>) => ({
    request: buildMerchantRequest({ ...request, url: requestedUrl(url, challenge) }),
    challenge,
  }),
  mintedStep,
)
