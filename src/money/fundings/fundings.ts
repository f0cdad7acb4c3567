import type { Mode, Tenant } from '../../kernel/contract/actor.ts'
import { area } from '../../kernel/contract/area.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { type ContextOf, implement } from '../../kernel/contract/operation.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { answered, given, lock, within } from '../../kernel/database/entity.ts'
import type { Charge, ChargeState } from '../../ports/funding-rail.ts'
import { after } from '../../values/clock.ts'
import { DEBT_ACCOUNTS, openBook } from '../ledger/index.ts'
import { PaymentMethod } from '../payment-methods/index.ts'
import { findWallet } from '../wallets/index.ts'
import { fundApi } from './api.ts'
import { FIRST_CHECK_AFTER, Funding, fundingMachine, fundingsDue, isUnderWay } from './funding.ts'
import { reverse } from './reverse.ts'
import { fundingEvent, settle } from './settle.ts'

/** What the processor is asked about; plain, for it outlives a crash. */
interface ChargeRequest {
  readonly fundingId: string
  readonly mode: Mode
  readonly cents: string
  readonly madeAt: string
  /** Null where test money is simply there. */
  readonly token: string | null
}

interface FundingMembers {
  readonly amountEuros: bigint
  readonly paymentMethodId: string | null
}

type FundingContext = ContextOf<typeof fundApi.create>

const SETTLED: ChargeState = { status: 'settled' }
const UNKNOWN: ChargeState = { status: 'unknown' }

const chargeOf = ({ cents, madeAt }: ChargeRequest, token: string): Charge => ({
  token,
  amountEuros: BigInt(cents),
  madeAt: new Date(madeAt),
})

const chargeRequestOf = (
  { id, mode, amountEuros, createdAt }: Funding,
  token: string | null,
): ChargeRequest => ({
  fundingId: id,
  mode,
  cents: String(amountEuros),
  madeAt: createdAt.toISOString(),
  token,
})

/** Who is to be charged, and for what: written down before the processor hears of it. */
async function reserve(
  walletId: string,
  { amountEuros, paymentMethodId }: FundingMembers,
  context: FundingContext,
) {
  const { em, tenant, now, ports, emit, refuse } = context
  const wallet = await findWallet(context, walletId)
  if (!wallet) return refuse('wallet_not_found')
  if (wallet.status === 'closed') return refuse('wallet_closed')
  if (!paymentMethodId && tenant.mode === 'live') return refuse('live_rail_missing')
  const method = await em.findOne(PaymentMethod, { id: paymentMethodId ?? '', status: 'active' })
  if (paymentMethodId && !method) return refuse('payment_method_not_found')
  // Nothing is begun where there is nobody to ask.
  if (method) ports.fundingRail(tenant.mode)
  const dueAt = after(now, FIRST_CHECK_AFTER)
  const funding = em.create(Funding, { walletId, paymentMethodId, amountEuros, dueAt })
  emit('funding.created', fundingEvent(funding))
  return chargeRequestOf(funding, method?.token ?? null)
}

const charge = (asked: ChargeRequest, { ports, requestId }: Pick<Context, 'ports' | 'requestId'>) => {
  const { fundingId, mode, token } = asked
  if (token === null) return SETTLED
  return ports.fundingRail(mode).charge(chargeOf(asked, token), { reference: fundingId, requestId })
}

/** The wallet as it stands then, and how far its funding has come. */
async function recordCharge(state: ChargeState, { fundingId }: ChargeRequest, context: FundingContext) {
  const { em, refuse } = context
  const isKnown = state.status !== 'unknown'
  // What nobody knows yet the sweep asks about, and it alone gives up.
  const funding = await (isKnown
    ? settle(fundingId, state, context)
    : em.findOneOrFail(Funding, { id: fundingId }))
  if (funding.status === 'failed') {
    if (!funding.paymentMethodId) return refuse('wallet_closed')
    return refuse('payment_failed', `Nothing has been drawn. ${funding.reason?.message}`)
  }
  await em.flush()
  const wallet = await findWallet(context, funding.walletId)
  if (!wallet) throw new Error('a funding without a wallet')
  return answered(wallet, { funding })
}

/** Both addresses do the same. */
const steps = {
  call: async (asked: ChargeRequest, outside: Pick<Context, 'ports' | 'requestId'>) => charge(asked, outside),
  record: recordCharge,
  /** The answer has been lost. The sweep asks the processor what has become of the charge; none is made here. */
  recover: (asked: ChargeRequest, context: FundingContext) =>
    recordCharge(asked.token === null ? SETTLED : UNKNOWN, asked, context),
}

async function stateOf(
  asked: ChargeRequest & { readonly now: string },
  { ports, requestId }: Pick<Context, 'ports' | 'requestId'>,
) {
  const { fundingId, mode, token, now } = asked
  if (token === null) return SETTLED
  const call = { reference: fundingId, requestId, now: new Date(now) }
  return ports.fundingRail(mode).stateOf(chargeOf(asked, token), call)
}

const OWNER = `select owner_id as "ownerId", mode from fundings where id = $1`

const fund = implement(fundApi, {
  create: {
    ...steps,
    reserve: ({ body: { walletId, ...wanted } }, context) => reserve(walletId, wanted, context),
  },
  wallet: { ...steps, reserve: ({ params, body }, context) => reserve(params.id, body, context) },

  list: ({ query: { status, walletId, from, to } }, { page }) =>
    page(Funding, given({ status, walletId, createdAt: within(from, to) })),

  async get({ params }, { em, refuse }) {
    return (await em.findOne(Funding, { id: params.id })) ?? refuse('funding_not_found')
  },

  async act({ params, body }, context) {
    const { em, sql, tenant, refuse } = context
    const known = await em.findOne(Funding, { id: params.fundingId })
    if (!known) return refuse('funding_not_found')
    if (tenant.mode !== 'test') return refuse('test_mode_only')
    await openBook(sql, context, { wallets: [known.walletId], others: ['bank'], ifExists: DEBT_ACCOUNTS })
    const funding = await lock(em, Funding, known.id)
    if (funding?.status !== 'requires_action') return refuse('no_action_required')
    const reason = { code: 'action_refused', message: 'The payer has not confirmed.' }
    return settle(funding.id, body.outcome === 'settled' ? SETTLED : { status: 'failed', reason }, context)
  },

  async reverse({ params, body }, context) {
    // Whose it is the operator need not know.
    const [known] = await context.sql<Tenant & Row>(OWNER, [params.id])
    if (!known) return context.refuse('funding_not_found')
    context.actFor(known)
    return reverse(params.id, body.reason, context)
  },

  async simulateReverse({ params, body }, context) {
    if (!(await context.em.findOne(Funding, { id: params.fundingId })))
      return context.refuse('funding_not_found')
    if (context.tenant.mode !== 'test') return context.refuse('test_mode_only')
    return reverse(params.fundingId, body.reason, context)
  },

  follow: {
    async reserve({ params }, { em, now }) {
      const funding = await em.findOneOrFail(Funding, { id: params.id })
      if (!isUnderWay(funding)) return null
      const method = await em.findOne(PaymentMethod, { id: funding.paymentMethodId ?? '' })
      return { ...chargeRequestOf(funding, method?.token ?? null), now: now.toISOString() }
    },
    call: async (asked: (ChargeRequest & { now: string }) | null, outside) =>
      asked && stateOf(asked, outside),
    async record(state: ChargeState | null, asked: ChargeRequest | null, context) {
      if (asked && state) await settle(asked.fundingId, state, context)
      return { done: true }
    },
    // It is asked again at the next round.
    recover: async () => ({ done: true }),
  },
})

export const fundArea = area(
  'Fund',
  'Money for wallets: drawn from a payment method; in test mode simply there.',
  fund,
  {
    entities: [Funding],
    machines: [fundingMachine],
    deadlines: [fundingsDue],
  },
)
