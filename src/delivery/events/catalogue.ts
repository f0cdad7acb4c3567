import { z } from 'zod'
import { id } from '../../values/ids.ts'
import { euros } from '../../values/money.ts'

const about = z.object

/** The same `data` for several events of a noun. */
const each = <T extends z.ZodType>(noun: string, verbs: string, data: T): Record<string, T> =>
  Object.fromEntries(verbs.split(' ').map(verb => [`${noun}.${verb}`, data]))

const status = (example: string) => z.string().meta({ examples: [example] })
const merchant = z
  .string()
  .max(200)
  .meta({ examples: ['Bookshop'] })
const reason = z.string().max(200).nullable()

const Intent = about({
  intentId: id('intent'),
  agentId: id('agent'),
  status: status('matched'),
  amountEuros: euros,
  merchant,
  reason,
})
const Card = about({
  cardId: id('card'),
  agentId: id('agent'),
  status: status('active'),
  last4: z.string().meta({ examples: ['4242'] }),
})
const Claim = about({ requestId: id('payreq'), status: status('paid'), amountEuros: euros })
const Dispute = about({ disputeId: id('dispute'), transactionId: id('txn'), status: status('open') })
const Mpp = about({
  credentialId: id('credential'),
  intentId: id('intent'),
  status: status('consumed'),
  amountEuros: euros,
  merchant,
})

/**
 * The catalogue of the contract, by the shapes that all areas share. What an operation emits it declares itself, and
 * that counts; this is what the others will have, and what is reserved.
 */
export const catalogue = {
  ...each('intent', 'matched mismatched', Intent),
  ...each(
    'card',
    'issued activated frozen unfrozen closed rotated funded shipped limits_changed details_changed',
    Card,
  ),
  'card_limit_request.updated': about({
    requestId: id('cardreq'),
    cardId: id('card'),
    agentId: id('agent'),
    status: status('approved'),
  }),
  ...each('claim.request', 'created paid expired cancelled', Claim),
  ...each('dispute', 'created updated resolved', Dispute),
  ...each('mpp.credential', 'minted consumed expired', Mpp),
  'mpp.transaction.completed': Mpp,
  'mobile_wallet.updated': about({
    cardId: id('card'),
    agentId: id('agent'),
    status: status('active'),
    last4: z.string().meta({ examples: ['4242'] }),
  }),
  'receipt.updated': about({ receiptId: id('receipt'), transactionId: id('txn'), status: status('matched') }),
}
