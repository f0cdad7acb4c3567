import { cardIdForIntent, denyCardAccess, loadCardDataSubject } from '../../cards/access-events/index.ts'
import { area } from '../../kernel/contract/area.ts'
import type { Deadline } from '../../kernel/contract/deadline.ts'
import { bindHandlers } from '../../kernel/contract/operation.ts'
import { hashAndHint, newSecret } from '../../kernel/database/credential.ts'
import { definedOnly, FOR_UPDATE } from '../../kernel/database/entity.ts'
import { getRecord } from '../../kernel/database/get-record.ts'
import { addMs } from '../../values/clock.ts'
import { checkoutApi } from './api.ts'
import { confirmCheckout, executeCheckout } from './pay-intent.ts'
import { redeemCheckoutSession } from './redeem-session.ts'
import {
  CHECKOUT_SESSION_TTL_MS,
  CheckoutSession,
  checkoutSessionEvent,
  checkoutSessionMachine,
  isMerchantShop,
  OPEN_CHECKOUT_SESSION_SQL,
  parseShopHost,
} from './session.ts'

const checkout = bindHandlers(checkoutApi, {
  confirm: confirmCheckout,
  credential: redeemCheckoutSession,
  execute: executeCheckout,

  async createSession({ body: { intentId, merchantUrl, cardId } }, context) {
    const { em, actor, now, emit } = context
    const merchantHost = parseShopHost(merchantUrl)
    if (merchantHost === undefined) throw new Error('an address without a host')
    const subject = await loadCardDataSubject(
      { cardId: await cardIdForIntent({ cardId, intentId }, context), intentId },
      context,
    )
    const { card, intent } = subject
    const mismatch = intent && !isMerchantShop(merchantHost, intent.merchant)
    const message = `merchantUrl: the intent is for ${intent?.merchant}, not for ${merchantHost}.`
    const denial = denyCardAccess(
      subject,
      { way: 'session', sourceId: null, purpose: null, merchantHost, keyThumbprint: null },
      { after: mismatch ? [{ code: 'merchant_mismatch', message }] : [] },
      context,
    )
    if (denial) return denial
    if (!card || !intent) throw new Error('granted without a card or an intent')
    const token = newSecret('cst_')
    const session = em.create(CheckoutSession, {
      agentId: card.agentId,
      delegationId: actor.delegationId ?? intent.delegationId,
      intentId,
      cardId: card.id,
      merchantHost,
      expiresAt: addMs(now, CHECKOUT_SESSION_TTL_MS),
      ...hashAndHint(token),
    })
    emit('checkout_session.created', checkoutSessionEvent(session))
    return Object.assign(session, { token })
  },

  sessions: ({ query: { status, agentId, intentId } }, { page }) =>
    page(CheckoutSession, definedOnly({ status, agentId, intentId })),

  session: getRecord(CheckoutSession, 'session_not_found'),

  async expireSession({ params }, { em, now, emit, refuse }) {
    const session = await em.findOne(CheckoutSession, { id: params.id }, FOR_UPDATE)
    if (!session) return refuse('session_not_found')
    if (session.expiresAt > now || !checkoutSessionMachine.move(session, 'expired')) return { expired: false }
    emit('checkout_session.expired', checkoutSessionEvent(session))
    return { expired: true }
  },
})

const expiry: Deadline = {
  process: { name: 'checkout-session' },
  table: 'checkout_sessions',
  record: 'id',
  agent: 'agent_id',
  due: 'expires_at',
  open: OPEN_CHECKOUT_SESSION_SQL,
  waits: 'false',
  operations: ['checkout.expireSession'],
}

export const checkoutArea = area(
  'Checkout',
  'Paying at a shop with a card that the agent never sees, and paying an intent on the service’s own rail.',
  checkout,
  {
    entities: [CheckoutSession],
    machines: [checkoutSessionMachine],
    deadlines: [expiry],
  },
)
