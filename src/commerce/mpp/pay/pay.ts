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
import {
  type AnswerWithHeaders,
  Problem,
  type Refusal,
  withHeaders,
} from '../../../kernel/contract/problem.ts'
import type { RecordRef } from '../../../kernel/contract/step.ts'
import { FOR_UPDATE_BY_ID, withMembers } from '../../../kernel/database/entity.ts'
import { tenantEntityManager } from '../../../kernel/database/orm.ts'
import { parseChallenges } from '../../../mpp/index.ts'
import type { Vault } from '../../../ports/vault.ts'
import { clock } from '../../../values/clock.ts'
import type { mppApi, orderEvents } from '../api.ts'
import { MppCredential } from '../credential.ts'
import { buildMerchantRequest } from '../merchant-request.ts'
import type { MachinePaymentProblem, MachinePaymentProblemCode } from '../offers.ts'
import { recoverSent } from '../outcome.ts'
import {
  type AnswerToCaller,
  byId,
  INTERRUPTED,
  MachinePayment,
  MachinePaymentAnswer,
  type OrderedRequest,
  openAnswer,
  openMinted,
  type PaidAnswer,
} from '../payment.ts'
import { type MachinePaymentState, type MachinePaymentSteps, type NextStep, payMerchant } from '../story.ts'
import { loadOrders, type Order, type OrderState, order, type RecordedOrder, writeOrders } from './order.ts'
import { repeatMinting, repeatPayment } from './repeat.ts'
import type { CarriedPayment } from './send.ts'

interface Steps extends MachinePaymentSteps {
  readMachinePayment(payment: RecordRef): Promise<MachinePaymentState>
  interruptOrder(payment: RecordRef): Promise<void>
}

/** How long a run has for each step to begin: after that the request takes it. */
const RUN_BEGINS_MS = 500
/** How long no run is waited for after one has not begun: its worker is away. */
const AWAY_MS = 5_000
/** Proxies cut off what is not answered within a minute. Before and after, the request waits for the database. */
const WAIT_MS = 45_000
const LOOK_EVERY_MS = 1_000

let runsAreAwayUntil = Number.NEGATIVE_INFINITY

/** A request that waits for the outcome of a payment, by `clock.ticks()` until then. */
interface Waiting {
  readonly tenant: Tenant
  readonly until: number
}

/**
 * Waits for the outcome of a payment. What is under way at the end goes on without the request. Gives the answer where it was
 * taken here.
 */
async function outcomeOf(
  ordered: RecordedOrder,
  waiting: Waiting,
  outside: ExternalCallContext,
): Promise<AnswerToCaller | undefined> {
  const over = new AbortController()
  const outcome = carryOut(ordered, waiting, outside)
  // After the end its failure is in the log of the step, and the payment is taken up by others.
  outcome.catch(() => undefined)
  const end = pause(waiting.until - clock.ticks(), undefined, { signal: over.signal, ref: false })
  return Promise.race([outcome, end.catch(() => undefined)]).finally(() => over.abort())
}

/**
 * Comes to the outcome of a payment: by its run, or, where none has begun in time, by the same steps here. States in the
 * database let one process order and send it.
 */
async function carryOut(
  { stored: { id, isConfirmed }, claimed }: RecordedOrder,
  { tenant, until }: Waiting,
  { service, settings, requestId, isRepeatable }: ExternalCallContext,
): Promise<AnswerToCaller | undefined> {
  const payment = { id, ...tenant }
  const carried: CarriedPayment = { claimed }
  const steps = service.activitiesFor(requestId) as unknown as Steps
  const pay = (from: NextStep) =>
    payMerchant({ ...payment, carried } as RecordRef, from, steps).catch(async (error: unknown) => {
      carried.isLeft = true
      // Its caller cannot ask for it again. Otherwise it goes on, by its run or by a repetition.
      const isLost = !isRepeatable && clock.ticks() < until
      if (isLost) await steps.interruptOrder(payment).catch(() => undefined)
      throw error
    })
  if (isConfirmed || claimed) {
    if ((await pay(claimed ? 'order' : 'token')) === 'none') return carried.answer
  }
  const isByRun = settings.mppWorkflows === 'run' && clock.ticks() >= runsAreAwayUntil
  let [seen, patientUntil] = ['', 0]
  for await (const _ of looksAt(id, { tenant, until }, service)) {
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
  { tenant, until }: Waiting,
  { waitForEvents }: Pick<RunningService, 'waitForEvents'>,
): AsyncGenerator<void> {
  const over = new AbortController()
  const isWanted = ({ data }: StreamedEvent) => data.credentialId === id || data.paymentId === id
  const changes = changesAt(waitForEvents, { tenant, isWanted, ending: over.signal }, LOOK_EVERY_MS)
  yield
  let next = changes.next()
  try {
    for (let waitMs = RUN_BEGINS_MS; clock.ticks() < until; waitMs = LOOK_EVERY_MS) {
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
  /** Orders the payment anew. */
  readonly again: HotCall<Stored, never>
}

type AnswerStep<R> = BatchedStep<
  Answered,
  R | AnswerWithHeaders<Refusal> | HotCall<Stored, never>,
  MachinePaymentProblemCode,
  Record<never, never>,
  Answers
>

/** Nothing was sent, and nothing forbids it: the payment of this request can be ordered anew. Of 0.7.0 only the credential is known. */
function isInterrupted(id: string, { payments, credentials }: Answers): boolean {
  const payment = payments.get(id)
  if (payment) return payment.reason === INTERRUPTED
  const credential = credentials.get(id)
  return credential?.status === 'void' && credential.sentAt === null
}

/** A merchant that is busy says when it may be asked again. */
const refused = ({ retryAfterMs }: MachinePaymentProblem, refusal: Refusal) =>
  retryAfterMs === undefined
    ? refusal
    : withHeaders(refusal, { 'Retry-After': String(Math.max(1, Math.ceil(retryAfterMs / 1_000))) })

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

  decide({ input: { id, answer: known, again } }, state, { refuse }) {
    const answer = known ?? state.answers.get(id)
    if (answer && 'code' in answer) return refused(answer, refuse(answer.code, answer.message))
    if (!answer && isInterrupted(id, state)) return again
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

/** What a request of 0.7.0 has stored. */
interface StageOf070 {
  readonly stage: string
  readonly credentialId?: string
}

/** Undefined if nothing is on record: a request of 0.7.0 has minted nothing. */
async function orderOf(stored: Stored, em: EntityManager): Promise<Order | undefined> {
  if (!('stage' in stored)) return stored
  const credential = await em.findOne(MppCredential, { id: stored.credentialId ?? '' })
  return credential ? { id: credential.id, isConfirmed: false } : undefined
}

type Stored = Order | StageOf070

type Paying<I, R> = HotExternalHandler<I, R, MachinePaymentProblemCode, typeof orderEvents, Stored, never>

/** A request that orders its payment anew has the rest of its time. */
interface Ordering {
  readonly until?: number
}

/**
 * Orders the payment and commits that, comes to its outcome, and answers. A payment that was interrupted before anything was
 * sent is ordered anew.
 */
const paying = <I extends Asking, R>(
  sentBy: MachinePayment['sentBy'],
  orderedBy: (input: I) => OrderedRequest,
  answers: AnswerStep<R>,
  repeat: NonNullable<Paying<I, R>['repeat']>,
): Paying<I, R> => {
  const goOn = (ordered: RecordedOrder, waiting: Waiting, input: I) =>
    new HotCall<Stored, never>(ordered.stored, async outside => {
      const answer = await outcomeOf(ordered, waiting, outside)
      const paid = answer && 'body' in answer ? answer.body : undefined
      const again = orderAnew(ordered.stored, input, waiting.until)
      return recordInBatch(answers, { ...ordered.stored, answer, again }, paid)
    })
  const orderAnew = (stored: Stored, input: I, until: number) =>
    new HotCall<Stored, never>(stored, async () => {
      if (clock.ticks() >= until) throw interruptedProblem()
      return recordInBatch(step, { ...input, until })
    })
  const step: BatchedStep<
    I & Ordering,
    HotCall<Stored, never>,
    MachinePaymentProblemCode,
    typeof orderEvents,
    OrderState
  > = {
    name: 'order',
    lanes: null,
    load: loadOrders,
    decide(item, state, verdict) {
      const { em } = state
      const { input, tenant } = item
      const ordered = order(item, orderedBy(input), sentBy, state, { ...item, ...verdict, em })
      const until = input.until ?? clock.ticks() + WAIT_MS
      return 'stored' in ordered ? goOn(ordered, { tenant, until }, input) : ordered
    },
    write: writeOrders,
  }
  return {
    begin: { by: 'writing', step },
    record(answer) {
      throw new Error(`${answer}: recorded in a batch`)
    },
    async recover(stored, context, input) {
      const until = clock.ticks() + WAIT_MS
      const ordered = await orderOf(stored, context.em)
      if (!ordered) return orderAnew(stored, input, until)
      await recoverSent(ordered.id, context)
      return goOn({ stored: ordered }, { tenant: context.tenant, until }, input)
    },
    repeat,
  }
}

/** Not stored under the key: a repetition orders it. */
const interruptedProblem = (): Problem =>
  new Problem(
    'outcome_unknown',
    'The payment was interrupted before anything was sent. Nothing was paid. Repeat the request with the same Idempotency-Key.',
    { 'Retry-After': '1' },
  )

export const payMachinePayment: HandlerOf<typeof mppApi.pay, Stored, never> = paying(
  'service',
  ({ body: { intentId: _, cardId: __, ...request } }: InputOf<typeof mppApi.pay>) => ({
    request: buildMerchantRequest(request),
    challenge: null,
  }),
  paidStep,
  repeatPayment,
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
  repeatMinting,
)
