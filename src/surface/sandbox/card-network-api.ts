import { post, type RefusalSpec } from '../../kernel/contract/operation.ts'
import {
  MobileWalletBody,
  NetworkAnswer,
  networkEvents,
  SandboxAuthorizationBody,
  SandboxAuthorizeBody,
  SandboxClearBody,
  SandboxDisputeBody,
  SandboxIncrementBody,
  SandboxRefundBody,
  SandboxReverseBody,
  SandboxShipBody,
} from './card-network-schemas.ts'

const fails = {
  test_mode_only: [400, 'The card network can only be simulated in test mode. Use a sandbox or test key.'],
  card_not_found: [404, 'cardId: no such card.'],
  number_not_found: [404, 'last4: the card has no such number.'],
  card_not_issued: [400, 'The processor has not issued the card yet. Wait until it has a number.'],
  agent_credential_not_found: [404, 'agentCredentialId: no such network token.'],
  token_named_twice: [
    400,
    'networkTokenId: agentCredentialId already names the token. Give only one of them.',
  ],
  token_not_issued: [400, 'agentCredentialId: it has no network token. Use an active one.'],
  card_unnamed: [400, 'cardId: required, since the authorization is unknown.'],
  merchant_unnamed: [400, 'merchant: required, since the authorization is unknown.'],
  not_delivered: [
    503,
    'The service stopped before the message arrived. Send it again with another Idempotency-Key.',
  ],
  nothing_left: [
    400,
    'amountEuros: nothing is left to clear of this authorization. Give an amount to clear more.',
  ],
} as const satisfies Record<string, RefusalSpec>

const simulated = {
  callers: ['key'],
  scope: 'sandbox:write',
  run: 'external',
  limits: { inTurn: 'short' },
  requires: 'cardProcessor',
  returns: [200, NetworkAnswer],
  fails,
  emits: networkEvents,
} as const

const WAY =
  'Test mode only. Sends a signed message to `POST /rails/card-processor`. To repeat it, send all fields of the answer.'

const authorizationId = 'sandboxauth_01jd8x2m4ye7k9v0c3q5r6t8wz'
const cardId = 'card_01jd8x2m4ye7k9v0c3q5r6t8wz'

export const cardNetworkApi = {
  authorizeCard: post('/simulate/card/authorize', {
    ...simulated,
    summary: 'Simulate a card authorization',
    description: `${WAY}\n\nWith \`agentCredentialId\` an agent’s network token pays: its merchants, limits and status apply as well. Three amounts trigger behaviour of the processor. € 91.01: it cannot reach the service and approves in its place; only its advice arrives. € 91.02: the answer of the service is late, and the processor declines. € 91.03: the request arrives twice.`,
    body: SandboxAuthorizeBody,
    example: { cardId, amountEuros: 25.5, merchant: 'SQ *BOOKSHOP 1234 BERLIN', mcc: '5942', country: 'DE' },
  }),
  incrementCard: post('/simulate/card/increment', {
    ...simulated,
    summary: 'Simulate an increment of an authorization',
    description: `${WAY} Hotels and filling stations raise an existing authorization.`,
    body: SandboxIncrementBody,
    example: { authorizationId, amountEuros: 10 },
  }),
  reverseCard: post('/simulate/card/reverse', {
    ...simulated,
    summary: 'Simulate a partial reversal',
    description: WAY,
    body: SandboxReverseBody,
    example: { authorizationId, amountEuros: 5 },
  }),
  voidCard: post('/simulate/card/void', {
    ...simulated,
    summary: 'Simulate a full reversal',
    description: WAY,
    body: SandboxAuthorizationBody,
    example: { authorizationId },
  }),
  expireCard: post('/simulate/card/expire', {
    ...simulated,
    summary: 'Simulate the expiry of an authorization',
    description: WAY,
    body: SandboxAuthorizationBody,
    example: { authorizationId },
  }),
  clearCard: post('/simulate/card/clear', {
    ...simulated,
    summary: 'Simulate a clearing',
    description: `${WAY} A clearing can exceed the authorization, or have none: the network has already paid.`,
    body: SandboxClearBody,
    example: { authorizationId, amountEuros: 25.5 },
  }),
  refundCard: post('/simulate/card/refund', {
    ...simulated,
    summary: 'Simulate a card refund',
    description: WAY,
    body: SandboxRefundBody,
    example: { authorizationId, amountEuros: 5 },
  }),
  disputeCard: post('/simulate/card/dispute', {
    ...simulated,
    summary: 'Simulate a decision about a dispute',
    description: `${WAY} Decisions may come at any time, repeatedly and in any order: none is refused.`,
    body: SandboxDisputeBody,
    example: { disputeId: 'dispute_01jd8x2m4ye7k9v0c3q5r6t8wz', says: 'won' },
    fails: { ...fails, dispute_not_found: [404, 'disputeId: no such dispute.'] },
  }),
  shipCard: post('/simulate/card/ship', {
    ...simulated,
    summary: 'Simulate the shipping of a card',
    description: WAY,
    body: SandboxShipBody,
    example: { cardId, carrier: 'Post', trackingNumber: 'RR1DE' },
  }),
  changeMobileWallet: post('/simulate/mobile-wallet', {
    ...simulated,
    summary: 'Simulate a mobile wallet',
    description: WAY,
    body: MobileWalletBody,
    example: { cardId, wallet: 'apple_pay', status: 'active' },
  }),
}
