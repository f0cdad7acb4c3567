import { area } from '../../../kernel/contract/area.ts'
import { implement } from '../../../kernel/contract/operation.ts'
import { definedOnly } from '../../../kernel/database/entity.ts'
import { paymentTokensApi } from './api.ts'
import { charge } from './charge.ts'
import { create } from './create.ts'
import { PaymentToken, tokenMachine } from './payment-token.ts'
import { paymentTokensPersonal } from './personal.ts'
import { paymentTokenReactions } from './reactions.ts'
import { revoke } from './revoke.ts'
import { take } from './take.ts'

const paymentTokens = implement(paymentTokensApi, {
  create,
  revoke,
  charge,
  take,

  list: ({ query: { status, agentId, recipientWalletId } }, { page }) =>
    page(PaymentToken, definedOnly({ status, agentId, recipientWalletId })),

  async get({ params }, { records, refuse }) {
    return (await records.findOne(PaymentToken, { id: params.id })) ?? refuse('token_not_found')
  },
})

export const paymentTokensArea = area(
  'Payment Tokens',
  'The right to take an amount from an agent’s wallet, once, given to the owner of another wallet.',
  paymentTokens,
  {
    personal: paymentTokensPersonal,
    entities: [PaymentToken],
    machines: [tokenMachine],
    reactions: paymentTokenReactions,
  },
)
