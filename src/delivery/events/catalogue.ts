import { z } from 'zod'
import { id } from '../../kernel/ids.ts'
import { euros } from '../../kernel/money.ts'

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
const Transaction = about({
  transactionId: id('txn'),
  agentId: id('agent').nullable(),
  intentId: id('intent').nullable(),
  amountEuros: euros,
  merchant,
  status: status('completed'),
})
const Card = about({
  cardId: id('card'),
  agentId: id('agent'),
  status: status('active'),
  last4: z.string().meta({ examples: ['4242'] }),
})
const Transfer = about({ transferId: id('transfer'), status: status('failed'), amountEuros: euros, reason })
const Risk = about({
  agentId: id('agent'),
  alertId: id('alert').nullable(),
  score: z
    .number()
    .min(0)
    .max(100)
    .meta({ examples: [72] }),
  signals: z.array(z.string()).meta({ examples: [['velocity']] }),
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
    'transaction',
    'created updated authorization settlement settled completed declined refunded',
    Transaction,
  ),
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
  'transfer.failed': Transfer,
  ...each('risk', 'agent_frozen review_required alert_created denied velocity_alert geo_impossible', Risk),
  ...each('claim.request', 'created paid expired cancelled', Claim),
  ...each('dispute', 'created updated resolved', Dispute),
  ...each('mpp.credential', 'minted consumed expired', Mpp),
  'mpp.transaction.completed': Mpp,
  'verification.mismatch': about({
    intentId: id('intent'),
    transactionId: id('txn'),
    agentId: id('agent'),
    status: status('mismatched'),
    amountEuros: euros,
    merchant,
  }),
  'mobile_wallet.updated': about({
    cardId: id('card'),
    agentId: id('agent'),
    status: status('active'),
    last4: z.string().meta({ examples: ['4242'] }),
  }),
  'receipt.updated': about({ receiptId: id('receipt'), transactionId: id('txn'), status: status('matched') }),
  'bill.updated': about({ billId: id('statement'), walletId: id('wallet'), status: status('ready') }),
}
