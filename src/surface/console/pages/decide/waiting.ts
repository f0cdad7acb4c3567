import { cardRequestsApi } from '../../../../cards/card-requests/index.ts'
import { transfersApi } from '../../../../commerce/transfers/index.ts'
import { intentsApi } from '../../../../control/intents/index.ts'
import { proposalsApi } from '../../../proposals/index.ts'
import type { ItemOf, PageRequest } from '../../page.ts'

const MOST = 50

export type Intent = ItemOf<typeof intentsApi.list>
export type CardRequest = ItemOf<typeof cardRequestsApi.list>
export type Proposal = ItemOf<typeof proposalsApi.list>
export type Transfer = ItemOf<typeof transfersApi.list>

export interface Waiting {
  readonly intents: readonly Intent[]
  readonly cardRequests: readonly CardRequest[]
  readonly transfers: readonly Transfer[]
  readonly proposals: readonly Proposal[]
  readonly hasMore: boolean
}

export const waitingEvents = [
  'intent.created',
  'intent.approved',
  'intent.denied',
  'intent.cancelled',
  'intent.expired',
  'card_limit_request.updated',
  'payment.updated',
  'transfer.completed',
  'transfer.failed',
  'canvas.proposal_*',
]

export async function readWaiting({ ask, now }: PageRequest): Promise<Waiting> {
  const [intents, cardRequests, transfers, proposals] = await Promise.all([
    ask(intentsApi.list, { query: { status: 'created', limit: MOST } }),
    ask(cardRequestsApi.list, { query: { status: 'pending', limit: MOST } }),
    ask(transfersApi.list, { query: { waitsFor: 'payee', limit: MOST } }),
    ask(proposalsApi.list, { query: { status: 'open', limit: MOST } }),
  ])
  const isOpen = ({ expiresAt }: { readonly expiresAt: string | Date }) => new Date(expiresAt) > now
  return {
    intents: intents.data.filter(isOpen),
    cardRequests: cardRequests.data.filter(isOpen),
    transfers: transfers.data,
    proposals: proposals.data.filter(isOpen),
    hasMore: intents.hasMore || cardRequests.hasMore || transfers.hasMore || proposals.hasMore,
  }
}

export const countOf = ({ intents, cardRequests, transfers, proposals }: Waiting): number =>
  intents.length + cardRequests.length + transfers.length + proposals.length
