import { aPolicy, bodyOf } from '../factories.ts'
import type { Payer } from './payers.ts'

type Withdrawal = readonly [
  what: string,
  status: number,
  code: string,
  withdraw: (payer: Payer) => Promise<unknown>,
]

/** Ends the rights of every token of the agent. */
export async function revokeTokens({ client, agent: { id } }: Payer): Promise<void> {
  const { data } = await bodyOf(client.agentTokens.list({ params: { id } }))
  for (const { id: tokenId } of data) await bodyOf(client.agentTokens.revoke({ params: { id, tokenId } }))
}

/** Gives the agent a policy that approves by itself, within these rules. */
export const changePolicy =
  (rules: object): Withdrawal[3] =>
  async ({ client, agent }) => {
    const { id: policyId } = await aPolicy(client, { autoApproveLimitEuros: 1_000, ...rules })
    return bodyOf(client.policies.assign({ params: { agentId: agent.id }, body: { policyId } }))
  }

/** What forbids a payment that was allowed when it was asked for, and how that is refused. */
export const withdrawals: readonly Withdrawal[] = [
  ['the token of whoever asked is revoked', 403, 'asker_not_allowed', revokeTokens],
  [
    'a rule denies the host',
    403,
    'merchant_denied',
    ({ client }) => bodyOf(client.mpp.protect({ body: { type: 'deny', merchant: '127.0.0.1' } })),
  ],
  [
    'an allow rule is added for somebody else',
    403,
    'merchant_not_allowed',
    ({ client }) => bodyOf(client.mpp.protect({ body: { type: 'allow', merchant: 'shop.example.com' } })),
  ],
  [
    'the agent is frozen',
    400,
    'agent_not_active',
    ({ client, agent }) => bodyOf(client.agents.freeze({ params: { id: agent.id }, body: {} })),
  ],
  [
    'the card is closed',
    400,
    'card_cannot_pay',
    ({ client, card }) => bodyOf(client.cards.close({ params: { id: card.id }, body: {} })),
  ],
  [
    'the card is frozen',
    400,
    'card_cannot_pay',
    ({ client, card }) => bodyOf(client.cards.freeze({ params: { id: card.id }, body: {} })),
  ],
  [
    'the policy blocks the merchant',
    403,
    'payment_denied',
    changePolicy({ merchantBlocklist: ['127.0.0.1'] }),
  ],
]
