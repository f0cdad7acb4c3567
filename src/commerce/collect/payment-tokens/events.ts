import { z } from 'zod'
import { event } from '../../../kernel/contract/events.ts'
import { id } from '../../../values/ids.ts'
import { euros } from '../../../values/money.ts'
import { tokenMachine } from './payment-token.ts'
import type { TokenRow } from './token-rows.ts'

/** An event about a token, for the owner who pays. */
const PaymentTokenEvent = z.object({
  paymentTokenId: id('paymenttoken'),
  agentId: id('agent'),
  intentId: id('intent'),
  status: z.enum(tokenMachine.states),
  amountEuros: euros,
  chargedEuros: euros.optional(),
  merchant: z.string().max(200).meta({ description: 'The public name of the owner who may charge it.' }),
})

/** An event about a charge, for the owner who is paid: it names nothing of the other owner's. */
const ChargeEvent = z.object({
  transactionId: id('txn'),
  walletId: id('wallet'),
  amountEuros: euros,
})

/** The events of a charge, on the side of who is paid. */
export const chargeEvents = {
  'claim.payment_token.accepted': event(
    'The payer’s side has paid a charge: its money is in the wallet, or on its way there.',
    ChargeEvent,
  ),
  'claim.payment_token.collected': event('The money of a charge has come into its wallet.', ChargeEvent),
}

/** The events that end a token uncharged, or make it usable. */
export const tokenEvents = {
  'claim.payment_token.created': event('A payment token has been made.', PaymentTokenEvent),
  'claim.payment_token.approved': event(
    'A person has approved a payment token: it can be charged.',
    PaymentTokenEvent,
  ),
  'claim.payment_token.denied': event('A person has denied a payment token.', PaymentTokenEvent),
  'claim.payment_token.revoked': event(
    'A payment token has been revoked, or its intent was cancelled: its money is free again.',
    PaymentTokenEvent,
  ),
  'claim.payment_token.expired': event(
    'A payment token has expired uncharged: its money is free again.',
    PaymentTokenEvent,
  ),
  'claim.payment_token.charged': event('A payment token has been charged.', PaymentTokenEvent),
}

export const tokenEvent = (token: TokenRow): z.output<typeof PaymentTokenEvent> => ({
  paymentTokenId: token.id,
  agentId: token.agentId,
  intentId: token.intentId,
  status: token.status,
  amountEuros: token.amountEuros,
  ...(token.chargedEuros === null ? {} : { chargedEuros: token.chargedEuros }),
  merchant: token.recipientName,
})
