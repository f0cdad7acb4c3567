import type { Mode } from '../../kernel/contract/actor.ts'
import { area } from '../../kernel/contract/area.ts'
import type { ExternalCallContext } from '../../kernel/contract/handlers.ts'
import { bindHandlers, type ContextOf, DONE, externalCall } from '../../kernel/contract/operation.ts'
import type { RunningService } from '../../kernel/contract/ports.ts'
import { definedOnly, halfOpenRangeCondition, withMembers } from '../../kernel/database/entity.ts'
import { getRecord } from '../../kernel/database/get-record.ts'
import type { ChargeState, FundingCharge } from '../../ports/funding-rail.ts'
import { addMs } from '../../values/clock.ts'
import { type Cents, cents } from '../../values/money.ts'
import { PaymentMethod } from '../payment-methods/index.ts'
import { findWallet, isPurse, walletsById } from '../wallets/index.ts'
import { fundingsApi } from './api.ts'
import {
  applyFundingChargeState,
  creditFundedWallet,
  failFunding,
  fundingEvent,
  lockFundingForCredit,
  reverseFunding,
} from './charge-state.ts'
import {
  FIRST_FUNDING_CHECK_MS,
  Funding,
  fundingDeadline,
  fundingMachine,
  pendingChargeOfMethod,
} from './funding.ts'
import { findFundingTenant, receiveFundingNotice } from './notices.ts'

/** Stored before the call, so its members must be JSON. */
interface ChargeRequest {
  readonly fundingId: string
  readonly walletId: string
  readonly mode: Mode
  readonly cents: string
  readonly madeAt: string
  /** Null for test money without a payment method. */
  readonly token: string | null
}

interface FundingMembers {
  readonly amountCents: Cents
  readonly paymentMethodId: string | null
}

type FundingContext = ContextOf<typeof fundingsApi.create>

const SETTLED: ChargeState = { status: 'settled' }
const SILENT: ChargeState = { status: 'silent' }

const chargeOf = ({ cents: amount, madeAt }: ChargeRequest, token: string): FundingCharge => ({
  token,
  amountCents: cents(amount),
  madeAt: new Date(madeAt),
})

const callOf = (
  { fundingId }: ChargeRequest,
  { pageUrl }: Pick<RunningService, 'pageUrl'>,
  requestId: string,
) => ({
  reference: fundingId,
  requestId,
  returnUrl: pageUrl(`/console/fundings/${fundingId}`),
})

const chargeRequestOf = (
  { id, walletId, mode, amountCents, createdAt }: Funding,
  token: string | null,
): ChargeRequest => ({
  fundingId: id,
  walletId,
  mode,
  cents: String(amountCents),
  madeAt: createdAt.toISOString(),
  token,
})

/** Stores the funding before the processor is called, so that a charge is never lost. */
async function reserve(
  walletId: string,
  { amountCents, paymentMethodId }: FundingMembers,
  context: FundingContext,
) {
  const { em, sql, tenant, now, systems, emit, refuse } = context
  const [wallets, method] = await Promise.all([
    walletsById(sql, tenant, [walletId]),
    paymentMethodId && em.findOne(PaymentMethod, { id: paymentMethodId, status: 'active' }),
  ])
  const wallet = wallets.get(walletId)
  if (!wallet) return refuse('wallet_not_found')
  if (isPurse(wallet)) return refuse('wallet_of_card')
  if (wallet.status === 'closed') return refuse('wallet_closed')
  if (!paymentMethodId && tenant.mode === 'live') return refuse('live_rail_missing')
  if (paymentMethodId && !method) return refuse('payment_method_not_found')
  // Throws before anything is reserved if this mode has no rail.
  if (method) systems.fundingRail(tenant.mode)
  const dueAt = addMs(now, FIRST_FUNDING_CHECK_MS)
  const funding = em.create(Funding, { walletId, paymentMethodId, amountCents, dueAt })
  emit('funding.created', fundingEvent(funding))
  return chargeRequestOf(funding, method ? method.token : null)
}

async function recordCharge(
  state: ChargeState,
  ids: Pick<Funding, 'id' | 'walletId'>,
  context: FundingContext,
) {
  const { em, refuse } = context
  const isKnown = state.status !== 'unknown' && state.status !== 'silent'
  // The sweep asks again about any other.
  const funding = await (isKnown
    ? applyFundingChargeState(ids, state, context)
    : em.findOneOrFail(Funding, { id: ids.id }))
  if (funding.status === 'failed') {
    if (!funding.paymentMethodId) return refuse('wallet_closed')
    return refuse('payment_failed', `No money was taken. ${funding.reason?.message}`)
  }
  const wallet = await findWallet(context, funding.walletId)
  if (!wallet) throw new Error('a funding without a wallet')
  return withMembers(wallet, { funding })
}

const steps = {
  async call(request: ChargeRequest, { systems, service, requestId }: ExternalCallContext) {
    const { mode, token } = request
    if (token === null) return SETTLED
    return systems.fundingRail(mode).charge(chargeOf(request, token), callOf(request, service, requestId))
  },
  record: (state: ChargeState, { fundingId, walletId }: ChargeRequest, context: FundingContext) =>
    recordCharge(state, { id: fundingId, walletId }, context),
  /** The answer was lost in a crash, so the sweep asks the processor, and nothing is charged again. */
  async recover({ fundingId, token }: ChargeRequest, context: FundingContext) {
    const funding = await context.em.findOneOrFail(Funding, { id: fundingId })
    return recordCharge(token === null ? SETTLED : SILENT, funding, context)
  },
}

type FollowContext = ContextOf<typeof fundingsApi.follow>
type FollowRequest = ChargeRequest & { readonly now: string }

async function begin(id: string, { em, now }: FollowContext): Promise<FollowRequest | null> {
  const funding = await em.findOneOrFail(Funding, { id })
  if (fundingMachine.isFinal(funding.status)) return null
  const method = await em.findOne(PaymentMethod, { id: funding.paymentMethodId ?? '' })
  return { ...chargeRequestOf(funding, method?.token ?? null), now: now.toISOString() }
}

const followSteps = {
  async call(request: FollowRequest | null, { systems, service, requestId }: ExternalCallContext) {
    if (!request) return null
    const { mode, token, now } = request
    if (token === null) return SETTLED
    const call = { ...callOf(request, service, requestId), now: new Date(now) }
    return systems.fundingRail(mode).stateOf(chargeOf(request, token), call)
  },
  async record(state: ChargeState | null, request: FollowRequest | null, context: FollowContext) {
    if (request && state)
      await applyFundingChargeState({ id: request.fundingId, walletId: request.walletId }, state, context)
    return DONE
  },
  // The next sweep asks again.
  recover: async () => DONE,
}

const fund = bindHandlers(fundingsApi, {
  create: externalCall(fundingsApi.create, {
    ...steps,
    reserve: ({ body: { walletId, ...members } }, context) => reserve(walletId, members, context),
  }),
  wallet: { ...steps, reserve: ({ params, body }, context) => reserve(params.id, body, context) },

  list: ({ query: { status, walletId, from, to } }, { page }) =>
    page(Funding, definedOnly({ status, walletId, createdAt: halfOpenRangeCondition(from, to) })),

  get: getRecord(Funding, 'funding_not_found'),

  async act({ params, body }, context) {
    const { em, tenant, refuse } = context
    const unlocked = await em.findOne(Funding, { id: params.fundingId })
    if (!unlocked) return refuse('funding_not_found')
    if (tenant.mode !== 'test') return refuse('test_mode_only')
    const locked = await lockFundingForCredit(unlocked, context)
    if (locked.funding.status !== 'requires_action') return refuse('no_action_required')
    if (body.outcome === 'settled') return creditFundedWallet(locked, context)
    return failFunding(
      locked.funding,
      { code: 'action_refused', message: 'The payer has not confirmed.' },
      context,
    )
  },

  async reverse({ params, body }, context) {
    const found = await findFundingTenant(params.id, context.sql)
    if (!found) return context.refuse('funding_not_found')
    const { ownerId, mode, walletId } = found
    context.switchTenant({ ownerId, mode })
    return reverseFunding({ id: params.id, walletId }, body.reason, context)
  },

  async simulateReverse({ params, body }, context) {
    const { em, tenant, refuse } = context
    const unlocked = await em.findOne(Funding, { id: params.fundingId })
    if (!unlocked) return refuse('funding_not_found')
    if (tenant.mode !== 'test') return refuse('test_mode_only')
    return reverseFunding(unlocked, body.reason, context)
  },

  follow: { ...followSteps, reserve: ({ params }, context) => begin(params.id, context) },
  noticed: externalCall(fundingsApi.noticed, {
    ...followSteps,
    reserve: ({ body }, context) => begin(body.id, context),
  }),
  // The pipeline passes the raw bytes to `receiveFundingNotice` instead.
  receive: () => ({ taken: false }),
})

export const fundingsArea = area(
  'Fund',
  'Money for wallets, charged to a payment method. In test mode, none is needed.',
  fund,
  {
    entities: [Funding],
    machines: [fundingMachine],
    deadlines: [fundingDeadline],
    answers: [pendingChargeOfMethod],
    receives: { receive: receiveFundingNotice },
  },
)
