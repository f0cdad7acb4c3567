import { chosenCard, denialOf, openSubject } from '../../cards/access-events/index.ts'
import { area } from '../../kernel/contract/area.ts'
import type { Deadline } from '../../kernel/contract/deadline.ts'
import { implement } from '../../kernel/contract/operation.ts'
import { hashAndHint, newSecret } from '../../kernel/database/credential.ts'
import { definedOnly } from '../../kernel/database/entity.ts'
import { after } from '../../values/clock.ts'
import { checkoutApi } from './api.ts'
import { confirm, execute } from './pay-intent.ts'
import { redeemSession } from './redeem-session.ts'
import {
  CheckoutSession,
  checkoutPersonal,
  isShopOf,
  OPEN,
  SESSION_LIFETIME_MS,
  sessionEvent,
  sessionMachine,
  shopHostOf,
} from './session.ts'

const checkout = implement(checkoutApi, {
  confirm,
  credential: redeemSession,
  execute,

  async createSession({ body: { intentId, merchantUrl, cardId } }, context) {
    const { records, actor, now, emit } = context
    const merchantHost = shopHostOf(merchantUrl)
    if (merchantHost === undefined) throw new Error('an address without a host')
    const subject = await openSubject(
      { cardId: await chosenCard({ cardId, intentId }, context), intentId },
      context,
    )
    const { card, intent } = subject
    const mismatch = intent && !isShopOf(merchantHost, intent.merchant)
    const message = `merchantUrl: the intent is for ${intent?.merchant}, not for ${merchantHost}.`
    const denial = denialOf(
      subject,
      { way: 'session', sourceId: null, purpose: null, merchantHost, keyThumbprint: null },
      { after: mismatch ? [{ code: 'merchant_mismatch', message }] : [] },
      context,
    )
    if (denial) return denial
    if (!card || !intent) throw new Error('granted without a card or an intent')
    const token = newSecret('cst_')
    const session = records.create(CheckoutSession, {
      agentId: card.agentId,
      delegationId: actor.delegationId ?? intent.delegationId,
      intentId,
      cardId: card.id,
      merchantHost,
      expiresAt: after(now, SESSION_LIFETIME_MS),
      ...hashAndHint(token),
    })
    emit('checkout_session.created', sessionEvent(session))
    return Object.assign(session, { token })
  },

  sessions: ({ query: { status, agentId, intentId } }, { page }) =>
    page(CheckoutSession, definedOnly({ status, agentId, intentId })),

  async session({ params }, { records, refuse }) {
    return (await records.findOne(CheckoutSession, { id: params.id })) ?? refuse('session_not_found')
  },

  async expireSession({ params }, { records, now, emit, refuse }) {
    const session = await records.lock(CheckoutSession, params.id)
    if (!session) return refuse('session_not_found')
    if (session.expiresAt > now || !sessionMachine.move(session, 'expired')) return { expired: false }
    emit('checkout_session.expired', sessionEvent(session))
    return { expired: true }
  },
})

const expiry: Deadline = {
  process: { name: 'checkout-session' },
  table: 'checkout_sessions',
  record: 'id',
  agent: 'agent_id',
  due: 'expires_at',
  open: OPEN,
  waits: 'false',
  operations: ['checkout.expireSession'],
}

export const checkoutArea = area(
  'Checkout',
  'Paying at a shop with a card that the agent never sees, and paying an intent on the service’s own rail.',
  checkout,
  {
    personal: checkoutPersonal,
    entities: [CheckoutSession],
    machines: [sessionMachine],
    deadlines: [expiry],
  },
)
