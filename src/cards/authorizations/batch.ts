import { type CardTermsRow, loadCardTerms } from '../../control/card-terms/index.ts'
import { type DecisionRow, insertDecisions } from '../../control/decisions/index.ts'
import {
  findPayableIntents,
  IntentPayments,
  type PayableIntentSearch,
  SpendLocks,
  SpendReads,
  type SpendSource,
  type WalletFunds,
} from '../../control/intents/index.ts'
import {
  intentHoldReference,
  type PaymentBatch,
  paymentHoldReferences,
  paymentReservationReferences,
  writePayments,
} from '../../control/payments/index.ts'
import { loadRiskAssessor, type RiskAssessor } from '../../control/risk/index.ts'
import type { TenantNow } from '../../kernel/contract/actor.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { FORCED_DEBIT_ACCOUNTS } from '../../money/ledger/index.ts'
import { loadRefundBook } from '../../money/refunds/index.ts'
import { transactionsById } from '../../money/transactions/index.ts'
import { findMainWalletId, type WalletRow, walletsById } from '../../money/wallets/index.ts'
import {
  lockNetworkTokenCharges,
  type NetworkTokenCharges,
  readNetworkTokenCharges,
} from '../agent-credentials/index.ts'
import { markCardsSpent, returnPurses } from '../cards/index.ts'
import { type AuthorizationRow, CARD_REFUND_SOURCE, type CardMessageRow } from './authorization.ts'
import {
  authorizationsById,
  authorizationsByProcessorRef,
  authorizationsBySharedToken,
  authorizationsForUnlinkedRefunds,
  authorizationsOfIntents,
  authorizationsOfTokens,
  awaitedAuthorizations,
  cardMessagesById,
  deleteAuthorizations,
  insertAuthorizations,
  insertCardMessages,
  type PayingCard,
  payingCards,
  type SharedTokenTerms,
  type UnlinkedRefund,
  updateAuthorizations,
} from './authorization-rows.ts'

export interface CardBatchQuery {
  readonly agentIds: readonly string[]
  readonly cardIds?: readonly string[]
  readonly numberIds?: readonly string[]
  readonly messageIds?: readonly string[]
  readonly processorRefs?: readonly string[]
  readonly authorizationIds?: readonly string[]
  readonly intentIds?: readonly string[]
  readonly searches?: readonly PayableIntentSearch[]
  readonly spends?: readonly { readonly agentId: string; readonly merchant: string }[]
  readonly tokenIds?: readonly string[]
  /** Cards on which a message without a token may report a payment by a shared one. */
  readonly sharedTokenCardIds?: readonly string[]
  readonly unnamedRefunds?: readonly UnlinkedRefund[]
  readonly hasRefunds?: boolean
  /** Facts move money between the owner's accounts; requests only hold it. */
  readonly movesMoney: boolean
}

const emptyQuery = {
  ...{ cardIds: [], numberIds: [], messageIds: [], processorRefs: [], authorizationIds: [], intentIds: [] },
  ...{
    searches: [],
    spends: [],
    tokenIds: [],
    sharedTokenCardIds: [],
    unnamedRefunds: [],
    hasRefunds: false,
  },
}

/** The payments of some cards with all that decides about them, and what is to be written. */
export interface CardBatch extends PaymentBatch {
  readonly cards: ReadonlyMap<string, PayingCard>
  readonly terms: ReadonlyMap<string, CardTermsRow>
  readonly authorizations: Set<AuthorizationRow>
  /** Payments by a shared token that the network has not reported yet, the oldest first. */
  readonly shared: ReadonlyMap<AuthorizationRow, SharedTokenTerms>
  readonly messages: Map<string, CardMessageRow>
  readonly candidates: ReadonlyMap<PayableIntentSearch, readonly string[]>
  readonly wallets: ReadonlyMap<string, WalletRow>
  readonly riskAssessor: RiskAssessor
  readonly credentials: NetworkTokenCharges
  readonly singleUse: ReadonlySet<string>
  readonly used: Map<string, string>
  readonly spent: Set<string>
  readonly changed: BatchChanges
}

type BatchChanges = PaymentBatch['changed'] & {
  readonly newAuthorizations: Set<AuthorizationRow>
  readonly authorizations: Set<AuthorizationRow>
  /** Placeholders that were merged into a machine payment: their rows are deleted. */
  readonly merged: Set<AuthorizationRow>
  /** Declined payments that leave their reference to the one that the network has paid, and so are written before it. */
  readonly renamed: Set<AuthorizationRow>
  readonly newMessages: CardMessageRow[]
  readonly decisions: DecisionRow[]
}

export type CardDecisionState<F extends WalletFunds = WalletFunds> = Omit<CardBatch, 'book' | 'changed'> & {
  readonly book: F
}

async function findCardRecords(source: SpendSource, query: Required<CardBatchQuery>) {
  const { sql, tenantNow } = source
  const { tenant } = tenantNow
  const [agents, terms, cards, messages, candidates, ownersWalletId, shared, ...found] = await Promise.all([
    source.agents(query.agentIds),
    loadCardTerms(sql, tenant, query.cardIds),
    payingCards(sql, tenant, query.numberIds),
    cardMessagesById(sql, tenant, query.messageIds),
    findPayableIntents(sql, tenantNow, query.searches),
    query.hasRefunds ? findMainWalletId(sql, tenant) : undefined,
    authorizationsBySharedToken(sql, tenantNow, query.sharedTokenCardIds),
    authorizationsByProcessorRef(sql, tenant, query.processorRefs),
    authorizationsById(sql, tenant, query.authorizationIds),
    authorizationsOfIntents(sql, tenant, query.intentIds),
    authorizationsOfTokens(sql, tenant, query.tokenIds),
    awaitedAuthorizations(sql, tenant, query.searches),
    authorizationsForUnlinkedRefunds(sql, tenant, query.unnamedRefunds),
  ])
  const rows = new Map([...found.flat(), ...shared.keys()].map(row => [row.id, row]))
  return {
    agents,
    terms,
    cards,
    messages,
    candidates,
    ownersWalletId,
    shared,
    authorizations: [...rows.values()],
  }
}

type CardRecords = Awaited<ReturnType<typeof findCardRecords>>

const present = <T>(values: readonly (T | null | undefined)[]): T[] => [
  ...new Set(values.filter((value): value is T => value !== null && value !== undefined)),
]

const FACT_ACCOUNTS = ['clearing_cards', 'suspense', ...FORCED_DEBIT_ACCOUNTS] as const

/**
 * Authorizations, messages and card transactions change only under their agent's lock, so they need no lock of their
 * own.
 */
async function loadCards<F extends WalletFunds>(
  source: SpendSource<F>,
  given: CardBatchQuery,
  tokenCharges = lockNetworkTokenCharges,
): Promise<CardDecisionState<F>> {
  const { sql, tenantNow } = source
  const { tenant } = tenantNow
  const query = { ...emptyQuery, ...given }
  const records = await findCardRecords(source, query)
  const { agents, authorizations, candidates, cards } = records
  const linked = authorizations.map(({ intentId }) => intentId)
  const intents = present([...query.intentIds, ...candidates.flat(), ...linked])
  const intentReferences = intents.map(intentHoldReference)
  const wallets = walletIdsOf(records)
  const transactionIds = present(authorizations.map(({ transactionId }) => transactionId))
  const networkTokenIds = authorizations.map(({ networkTokenId }) => networkTokenId)
  const refunded = authorizations.filter(({ facts }) => facts.refunds.length > 0)
  const [rows, walletRows, riskAssessor, transactions, credentials, refunds] = await Promise.all([
    source.take({
      spending: present([...agents.keys(), ...query.cardIds, ...authorizations.map(({ cardId }) => cardId)]),
      reservations: [...intentReferences, ...authorizations.flatMap(paymentReservationReferences)],
      wallets,
      others: query.movesMoney ? FACT_ACCOUNTS : [],
      holds: [...intentReferences, ...authorizations.flatMap(paymentHoldReferences)],
      intents,
    }),
    query.movesMoney ? walletsById(sql, tenant, wallets) : new Map<string, WalletRow>(),
    loadRiskAssessor(sql, tenantNow, query.spends),
    transactionsById(sql, tenant, transactionIds),
    tokenCharges(sql, tenant, present([...query.tokenIds, ...networkTokenIds])),
    loadRefundBook(sql, tenantNow, {
      transactionIds: query.hasRefunds ? transactionIds : [],
      sources: { type: CARD_REFUND_SOURCE, ids: refunded.map(({ id }) => id) },
    }),
  ])
  return {
    ...{
      ...tenantNow,
      ...records,
      counters: rows.counters,
      book: rows.book,
      riskAssessor,
      credentials,
      refunds,
    },
    authorizations: new Set(authorizations),
    messages: new Map(records.messages.map(message => [message.id, message])),
    candidates: new Map(query.searches.map((search, n) => [search, candidates[n] ?? []])),
    payments: new IntentPayments(tenantNow, rows),
    wallets: walletRows,
    transactions: new Map(transactions),
    singleUse: new Set(
      [...cards.values()].flatMap(({ usage, cardId }) => (usage === 'single' ? cardId : [])),
    ),
    used: new Map(),
    spent: new Set(),
  }
}

const walletIdsOf = ({ agents, cards, authorizations, ownersWalletId }: CardRecords): string[] =>
  present([
    ownersWalletId,
    ...[...agents.values()].map(({ walletId }) => walletId),
    ...[...cards.values()].map(({ walletId }) => walletId),
    ...authorizations.map(({ walletId }) => walletId),
  ])

export const loadCardBatch = async (
  sql: Sql,
  tenantNow: TenantNow,
  query: CardBatchQuery,
): Promise<CardBatch> => ({
  ...(await loadCards(new SpendLocks(sql, tenantNow), query)),
  changed: {
    newAuthorizations: new Set(),
    authorizations: new Set(),
    merged: new Set(),
    renamed: new Set(),
    newTransactions: new Set(),
    transactions: new Set(),
    newMessages: [],
    decisions: [],
  },
})

export const readCardDecisionState = (
  sql: Sql,
  tenantNow: TenantNow,
  query: CardBatchQuery,
): Promise<CardDecisionState> => loadCards(new SpendReads(sql, tenantNow), query, readNetworkTokenCharges)

export async function writeCardBatch(batch: CardBatch, sql: Sql): Promise<void> {
  const { tenant, now, changed, riskAssessor, credentials, spent } = batch
  await Promise.all([
    deleteAuthorizations(sql, tenant, [...changed.merged]),
    updateAuthorizations(sql, tenant, [...changed.renamed]),
    insertAuthorizations(sql, [...changed.newAuthorizations]),
    updateAuthorizations(sql, tenant, [...changed.authorizations]),
    insertCardMessages(sql, changed.newMessages),
    insertDecisions(sql, changed.decisions),
    riskAssessor.write(sql),
    credentials.write(sql),
    markCardsSpent(sql, tenant, [...spent], now),
    returnPurses(sql, tenant, cardsWithFreeMoney(changed), now),
    writePayments(batch, sql),
  ])
}

const cardsWithFreeMoney = ({ newAuthorizations, authorizations }: BatchChanges): string[] =>
  [...newAuthorizations, ...authorizations].flatMap(authorization =>
    authorization.cardId && hasFreedPurse(authorization) ? authorization.cardId : [],
  )

/** Whether the payment may have freed money in its card's purse, which a closed card returns. */
export const hasFreedPurse = ({ source, status, heldCents, refundedCents }: AuthorizationRow): boolean =>
  source === 'purse' && status !== 'declined' && (heldCents === 0n || refundedCents > 0n)
