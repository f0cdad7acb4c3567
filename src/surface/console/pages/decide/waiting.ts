import { cardRequestsApi } from '../../../../cards/card-requests/index.ts'
import { disputesApi } from '../../../../commerce/disputes/index.ts'
import { mppApi } from '../../../../commerce/mpp/index.ts'
import { receiptsApi } from '../../../../commerce/receipts/index.ts'
import { transfersApi } from '../../../../commerce/transfers/index.ts'
import { intentSimulationApi, intentsApi } from '../../../../control/intents/index.ts'
import { RefusedError } from '../../../../kernel/contract/problem.ts'
import { addMs, days } from '../../../../values/clock.ts'
import { proposalsApi } from '../../../proposals/index.ts'
import type { ListItemOf, PageRequest } from '../../page.ts'
import { readNamesInRows } from '../../parts/names.ts'
import { peopleOfApproval } from './approval-steps.ts'
import {
  actorsOfChangeRequest,
  type ChangeRequestItem,
  readWaitingChangeRequests,
} from './change-requests.ts'

/** The newest of each kind are listed. */
export const MOST_WAITING = 50

export type IntentItem = ListItemOf<typeof intentsApi.list>
export type CardRequestItem = ListItemOf<typeof cardRequestsApi.list>
export type ProposalItem = ListItemOf<typeof proposalsApi.list>
export type TransferItem = ListItemOf<typeof transfersApi.list>
export type DisputeItem = ListItemOf<typeof disputesApi.list>
export type CredentialItem = ListItemOf<typeof mppApi.list>
export type MissingReceiptItem = ListItemOf<typeof receiptsApi.missing>

export interface WaitingDecisions {
  readonly intents: readonly IntentItem[]
  readonly cardRequests: readonly CardRequestItem[]
  readonly transfers: readonly TransferItem[]
  readonly proposals: readonly ProposalItem[]
  readonly disputes: readonly DisputeItem[]
  /** Machine payments that a person confirms with the card's issuer. */
  readonly credentials: readonly CredentialItem[]
  readonly changeRequests: readonly ChangeRequestItem[]
  readonly hasMore: boolean
}

export const waitingDecisionEvents = [
  'intent.created',
  'intent.approval_*',
  'intent.approved',
  'intent.denied',
  'intent.cancelled',
  'intent.expired',
  'card_limit_request.*',
  'payment.updated',
  'transfer.completed',
  'transfer.failed',
  'canvas.proposal_*',
  'dispute.*',
  'mpp.*',
  'change_request.*',
]

/** `frame-facts.ts` counts the same decisions for the badge of every page. */
export async function readWaitingDecisions(request: PageRequest): Promise<WaitingDecisions> {
  const { ask, now } = request
  const [intents, cardRequests, transfers, proposals, disputes, credentials, changeRequests] =
    await Promise.all([
      ask(intentsApi.list, { query: { status: 'created', limit: MOST_WAITING } }),
      ask(cardRequestsApi.list, { query: { status: 'pending', limit: MOST_WAITING } }),
      ask(transfersApi.list, { query: { waitsFor: 'payee', limit: MOST_WAITING } }),
      ask(proposalsApi.list, { query: { status: 'open', limit: MOST_WAITING } }),
      ask(disputesApi.list, { query: { status: 'open', limit: MOST_WAITING } }),
      ask(mppApi.list, { query: { waitsFor: 'person', limit: MOST_WAITING } }),
      readWaitingChangeRequests(request),
    ])
  const isOpen = ({ expiresAt }: { readonly expiresAt: string | Date }) => new Date(expiresAt) > now
  return {
    intents: intents.data.filter(isOpen),
    cardRequests: cardRequests.data.filter(isOpen),
    transfers: transfers.data,
    proposals: proposals.data.filter(isOpen),
    disputes: disputes.data,
    credentials: credentials.data,
    changeRequests,
    hasMore: [intents, cardRequests, transfers, proposals, disputes, credentials].some(
      ({ hasMore }) => hasMore,
    ),
  }
}

/** Reads the names of agents, payees and approvers. Wallets and cards are not named in a list of decisions. */
export const readNamesOfWaiting = (
  { intents, cardRequests, transfers, proposals, disputes, credentials, changeRequests }: WaitingDecisions,
  request: PageRequest,
): Promise<void> =>
  readNamesInRows(
    [
      ...intents,
      ...intents.flatMap(peopleOfApproval),
      ...cardRequests,
      ...cardRequests.flatMap(peopleOfApproval),
      ...transfers,
      ...proposals,
      ...disputes,
      ...credentials,
      ...changeRequests.flatMap(actorsOfChangeRequest),
    ],
    request,
    ['walletId', 'fromWalletId', 'cardId', 'runId'],
  )

/** Missing receipts are not counted: they have no deadline, and there can be many. */
export const countWaitingDecisions = ({
  intents,
  cardRequests,
  transfers,
  proposals,
  disputes,
  credentials,
  changeRequests,
}: WaitingDecisions): number =>
  [intents, cardRequests, transfers, proposals, disputes, credentials, changeRequests].reduce(
    (count, { length }) => count + length,
    0,
  )

/** A receipt often comes by itself within days: agents and merchants send them. */
const RECEIPT_MISSED_AFTER = days(3)

export const readMissingReceipts = ({ ask, now }: PageRequest) =>
  ask(receiptsApi.missing, {
    query: { limit: MOST_WAITING, to: addMs(now, -RECEIPT_MISSED_AFTER).toISOString() },
  })

/** The checks of a waiting intent at present. */
export async function readChecksOfIntent(
  intent: IntentItem,
  { ask }: PageRequest,
): Promise<IntentItem['decision']['checks'] | undefined> {
  const { agentId, amountEuros, beneficiaryId, walletId, requestId, mcc, country, runId, cardId } = intent
  const hasRecord = [beneficiaryId, walletId, requestId].some(id => id !== null)
  const payee = hasRecord ? { beneficiaryId, walletId, requestId } : { merchant: intent.merchant }
  const body = { agentId, amountEuros, ...payee, mcc, country, runId, cardId }
  try {
    const { checks } = await ask(intentSimulationApi.simulate, { body })
    return checks.filter(({ rule }) => rule !== 'possibleDuplicate')
  } catch (error) {
    // The agent or card may be deleted. Then only the stored decision is known.
    if (error instanceof RefusedError) return undefined
    throw error
  }
}
