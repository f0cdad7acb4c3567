import { type Failure, post } from '../../kernel/contract/operation.ts'
import {
  AuthorizeBody,
  ClearBody,
  DisputeBody,
  IncrementBody,
  MobileWalletBody,
  NetworkAnswer,
  networkEvents,
  RefundBody,
  ReverseBody,
  ShipBody,
  WholeBody,
} from './card-network-schemas.ts'

const fails = {
  test_mode_only: [400, 'Only in test mode the card network can be played: use a sandbox or test key.'],
  card_not_found: [404, 'cardId: no such card.'],
  number_not_found: [404, 'last4: the card has no such number.'],
  card_not_issued: [400, 'The processor has not issued the card yet: it has no number that could pay.'],
  agent_credential_not_found: [404, 'agentCredentialId: no such network token.'],
  token_named_twice: [400, 'networkTokenId: agentCredentialId names the token already. Give one of both.'],
  token_not_issued: [
    400,
    'agentCredentialId: the processor has given no network token for it. Take one that is active.',
  ],
  card_unnamed: [400, 'cardId: no such authorization is known, so name the card too.'],
  merchant_unnamed: [400, 'merchant: no such authorization is known, so name the merchant too.'],
  not_delivered: [
    503,
    'The service ended before the message came in. Send it again, with another Idempotency-Key.',
  ],
  nothing_left: [
    400,
    'amountEuros: nothing is left to clear of this authorization. Give an amount to clear more.',
  ],
} as const satisfies Record<string, Failure>

const played = {
  callers: ['key'],
  scope: 'sandbox:write',
  run: 'external',
  requires: 'cardProcessor',
  returns: [200, NetworkAnswer],
  fails,
  emits: networkEvents,
} as const

const WAY =
  'Test mode only. You play the card network: the message is signed as the sandbox’s processor signs, and comes in by the same door as those of a real one, `POST /rails/card-processor`. To send the same message again give everything that the answer names, with its `messageId` and `sentAt`.'

const authorizationId = 'sandboxauth_01jd8x2m4ye7k9v0c3q5r6t8wz'
const cardId = 'card_01jd8x2m4ye7k9v0c3q5r6t8wz'

export const cardNetworkApi = {
  authorizeCard: post('/simulate/card/authorize', {
    ...played,
    summary: 'Let a merchant ask for an authorization',
    description: `${WAY}\n\nWith \`agentCredentialId\` an agent’s network token pays, as in pass-through: its merchants, limits and state count, too. The answer says what was approved, or why nothing was. Three amounts make the processor act by itself. € 91.01: it cannot reach the service and approves in its place, so that only its word comes. € 91.02: the answer of the service comes too late, and the processor has declined. € 91.03: the request comes twice.`,
    body: AuthorizeBody,
    example: { cardId, amountEuros: 25.5, merchant: 'SQ *BOOKSHOP 1234 BERLIN', mcc: '5942', country: 'DE' },
  }),
  incrementCard: post('/simulate/card/increment', {
    ...played,
    summary: 'Let a merchant ask for more',
    description: `${WAY} Hotels and filling stations do so, under the authorization that they have.`,
    body: IncrementBody,
    example: { authorizationId, amountEuros: 10 },
  }),
  reverseCard: post('/simulate/card/reverse', {
    ...played,
    summary: 'Let a merchant give back a part of an authorization',
    description: WAY,
    body: ReverseBody,
    example: { authorizationId, amountEuros: 5 },
  }),
  voidCard: post('/simulate/card/void', {
    ...played,
    summary: 'Let a merchant give back an authorization',
    description: WAY,
    body: WholeBody,
    example: { authorizationId },
  }),
  expireCard: post('/simulate/card/expire', {
    ...played,
    summary: 'Let an authorization expire at the network',
    description: WAY,
    body: WholeBody,
    example: { authorizationId },
  }),
  clearCard: post('/simulate/card/clear', {
    ...played,
    summary: 'Let a merchant collect the money',
    description: `${WAY} More than was authorized can be cleared, and what was never authorized: the network has paid.`,
    body: ClearBody,
    example: { authorizationId, amountEuros: 25.5 },
  }),
  refundCard: post('/simulate/card/refund', {
    ...played,
    summary: 'Let a merchant refund a payment',
    description: WAY,
    body: RefundBody,
    example: { authorizationId, amountEuros: 5 },
  }),
  disputeCard: post('/simulate/card/dispute', {
    ...played,
    summary: 'Let the card network decide a dispute',
    description: `${WAY} It may say so at any time, as often and in whatever order you like: facts are never refused.`,
    body: DisputeBody,
    example: { disputeId: 'dispute_01jd8x2m4ye7k9v0c3q5r6t8wz', says: 'won' },
    fails: { ...fails, dispute_not_found: [404, 'disputeId: no such dispute.'] },
  }),
  shipCard: post('/simulate/card/ship', {
    ...played,
    summary: 'Let the processor ship a card',
    description: WAY,
    body: ShipBody,
    example: { cardId, carrier: 'Post', trackingNumber: 'RR1DE' },
  }),
  changeMobileWallet: post('/simulate/mobile-wallet', {
    ...played,
    summary: 'Let a card be added to a phone’s wallet',
    description: WAY,
    body: MobileWalletBody,
    example: { cardId, wallet: 'apple_pay', status: 'active' },
  }),
}
