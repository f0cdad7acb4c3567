import { type BudgetCounters, lockCounters, readCounters } from '../../control/budgets/index.ts'
import { type CardTermsRow, loadCardTerms } from '../../control/card-terms/index.ts'
import { type DecisionRow, insertDecisions } from '../../control/decisions/index.ts'
import {
  findIntents,
  findPayableIntents,
  IntentPayments,
  lockIntents,
  type PayableIntentSearch,
} from '../../control/intents/index.ts'
import {
  intentHoldReference,
  paymentHoldReferences,
  paymentReservationReferences,
} from '../../control/payments/index.ts'
import { findSpendingAgents, lockSpendingAgents, type SpendingAgent } from '../../control/policies/index.ts'
import { loadRiskAssessor, type RiskAssessor } from '../../control/risk/index.ts'
import type { TenantNow } from '../../kernel/contract/actor.ts'
import type { LockLanes } from '../../kernel/contract/handlers.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import {
  FORCED_DEBIT_ACCOUNTS,
  type LockedBook,
  lockBook,
  type PostingCause,
  readWalletBalances,
} from '../../money/ledger/index.ts'
import { loadRefundBook, type RefundBook } from '../../money/refunds/index.ts'
import {
  insertTransactions,
  type TransactionRow,
  transactionsById,
  updateTransactions,
} from '../../money/transactions/index.ts'
import { findMainWalletId, type WalletRow, walletsById } from '../../money/wallets/index.ts'
import { NO_CENTS } from '../../values/money.ts'
import { loadNetworkTokenCharges, type NetworkTokenCharges } from '../agent-credentials/index.ts'
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

export interface CardBatch extends TenantNow {
  readonly agents: ReadonlyMap<string, SpendingAgent>
  readonly cards: ReadonlyMap<string, PayingCard>
  readonly terms: ReadonlyMap<string, CardTermsRow>
  readonly authorizations: Set<AuthorizationRow>
  /** Payments by a shared token that the network has not reported yet, the oldest first. */
  readonly shared: ReadonlyMap<AuthorizationRow, SharedTokenTerms>
  readonly messages: Map<string, CardMessageRow>
  readonly candidates: ReadonlyMap<PayableIntentSearch, readonly string[]>
  readonly payments: IntentPayments
  readonly counters: BudgetCounters
  readonly book: LockedBook
  readonly wallets: ReadonlyMap<string, WalletRow>
  /**
   * Receives returned money if the paying wallet is closed. Undefined if no money is returned or there is no
   * such wallet.
   */
  readonly ownersWalletId: string | undefined
  readonly refunds: RefundBook
  readonly riskAssessor: RiskAssessor
  readonly credentials: NetworkTokenCharges
  readonly transactions: Map<string, TransactionRow>
  readonly singleUse: ReadonlySet<string>
  readonly used: Map<string, string>
  readonly spent: Set<string>
  readonly changed: BatchChanges
}

interface BatchChanges {
  readonly newAuthorizations: Set<AuthorizationRow>
  readonly authorizations: Set<AuthorizationRow>
  /** Placeholders that were merged into a machine payment: their rows are deleted. */
  readonly merged: Set<AuthorizationRow>
  readonly newTransactions: Set<TransactionRow>
  readonly transactions: Set<TransactionRow>
  readonly newMessages: CardMessageRow[]
  readonly decisions: DecisionRow[]
}

type Funds = Pick<LockedBook, 'available' | 'isFrozen'>

export type CardDecisionState<F extends Funds = Funds> = Omit<CardBatch, 'book' | 'changed'> & {
  readonly book: F
}

const noChanges = (): BatchChanges => ({
  newAuthorizations: new Set(),
  authorizations: new Set(),
  merged: new Set(),
  newTransactions: new Set(),
  transactions: new Set(),
  newMessages: [],
  decisions: [],
})

async function readAgentRecords(
  sql: Sql,
  tenantNow: TenantNow,
  query: Required<CardBatchQuery>,
  agentsById: typeof lockSpendingAgents,
) {
  const { tenant } = tenantNow
  const awaited = query.searches.flatMap(({ agentId, merchantKeys }) =>
    merchantKeys.map(merchantKey => ({ agentId, merchantKey })),
  )
  const [
    agents,
    terms,
    cards,
    byRef,
    byId,
    ofIntents,
    ofTokens,
    shared,
    waiting,
    refunded,
    messages,
    candidates,
    main,
  ] = await Promise.all([
    agentsById(sql, tenant, query.agentIds),
    loadCardTerms(sql, tenant, query.cardIds),
    payingCards(sql, tenant, query.numberIds),
    authorizationsByProcessorRef(sql, tenant, query.processorRefs),
    authorizationsById(sql, tenant, query.authorizationIds),
    authorizationsOfIntents(sql, tenant, query.intentIds),
    authorizationsOfTokens(sql, tenant, query.tokenIds),
    authorizationsBySharedToken(sql, tenantNow, query.sharedTokenCardIds),
    awaitedAuthorizations(sql, tenant, awaited),
    authorizationsForUnlinkedRefunds(sql, tenant, query.unnamedRefunds),
    cardMessagesById(sql, tenant, query.messageIds),
    findPayableIntents(sql, tenantNow, query.searches),
    query.hasRefunds ? findMainWalletId(sql, tenant) : undefined,
  ])
  const rows = new Map(
    [...byRef, ...byId, ...ofIntents, ...ofTokens, ...waiting, ...refunded, ...shared.keys()].map(row => [
      row.id,
      row,
    ]),
  )
  return {
    agents,
    terms,
    cards,
    authorizations: [...rows.values()],
    shared,
    messages,
    candidates,
    ownersWalletId: main,
  }
}

type AgentRecords = Awaited<ReturnType<typeof readAgentRecords>>

const present = <T>(values: readonly (T | null | undefined)[]): T[] => [
  ...new Set(values.filter((value): value is T => value !== null && value !== undefined)),
]

const walletIdsOf = ({ agents, cards, authorizations, ownersWalletId }: AgentRecords): string[] =>
  present([
    ownersWalletId,
    ...[...agents.values()].map(({ walletId }) => walletId),
    ...[...cards.values()].map(({ walletId }) => walletId),
    ...authorizations.map(({ walletId }) => walletId),
  ])

const FACT_ACCOUNTS = ['clearing_cards', 'suspense', ...FORCED_DEBIT_ACCOUNTS] as const

interface FundsNeeded {
  readonly wallets: readonly string[]
  readonly holds: readonly PostingCause[]
  readonly movesMoney: boolean
}

interface CountersNeeded {
  readonly subjects: readonly string[]
  readonly agentIds: readonly string[]
  readonly causes: readonly PostingCause[]
}

interface RowLoaders<F extends Funds> {
  readonly agents: typeof lockSpendingAgents
  readonly intents: typeof lockIntents
  counters(sql: Sql, tenantNow: TenantNow, needed: CountersNeeded): Promise<BudgetCounters>
  funds(sql: Sql, tenantNow: TenantNow, needed: FundsNeeded): Promise<F>
}

/**
 * Loads in the global lock order: agents, counters, accounts, intents. Authorizations, messages and card
 * transactions change only under their agent's lock, so they need no lock of their own.
 */
const batchLoader =
  <F extends Funds>(rows: RowLoaders<F>) =>
  async (sql: Sql, { tenant, now }: TenantNow, given: CardBatchQuery): Promise<CardDecisionState<F>> => {
    const query = { ...emptyQuery, ...given }
    const tenantNow = { tenant, now }
    const { movesMoney } = query
    const ofAgents = await readAgentRecords(sql, tenantNow, query, rows.agents)
    const { agents, authorizations, candidates } = ofAgents
    const linked = authorizations.map(({ intentId }) => intentId)
    const intentIds = present([...query.intentIds, ...candidates.flat(), ...linked])
    const intentReferences = intentIds.map(intentHoldReference)
    const agentIds = [...agents.keys()]
    const subjects = present([...agentIds, ...query.cardIds, ...authorizations.map(({ cardId }) => cardId)])
    const wallets = walletIdsOf(ofAgents)
    const transactionIds = present(authorizations.map(({ transactionId }) => transactionId))
    const causes = [...intentReferences, ...authorizations.flatMap(paymentReservationReferences)]
    const holds = [...intentReferences, ...authorizations.flatMap(paymentHoldReferences)]
    const tokenIds = present([
      ...query.tokenIds,
      ...authorizations.map(({ networkTokenId }) => networkTokenId),
    ])
    const refunded = authorizations.filter(({ facts }) => facts.refunds.length > 0)
    const [counters, book, walletRows, riskAssessor, transactions, intents, credentials, refunds] =
      await Promise.all([
        rows.counters(sql, tenantNow, { subjects, agentIds, causes }),
        rows.funds(sql, tenantNow, { wallets, holds, movesMoney }),
        movesMoney ? walletsById(sql, tenant, wallets) : new Map<string, WalletRow>(),
        loadRiskAssessor(sql, tenantNow, query.spends),
        transactionsById(sql, tenant, transactionIds),
        rows.intents(sql, tenant, intentIds),
        loadNetworkTokenCharges(sql, tenant, tokenIds),
        loadRefundBook(sql, tenantNow, {
          transactionIds: query.hasRefunds ? transactionIds : [],
          sources: { type: CARD_REFUND_SOURCE, ids: refunded.map(({ id }) => id) },
        }),
      ])
    return {
      ...tenantNow,
      ...ofAgents,
      authorizations: new Set(authorizations),
      messages: new Map(ofAgents.messages.map(message => [message.id, message])),
      candidates: new Map(query.searches.map((search, n) => [search, candidates[n] ?? []])),
      payments: new IntentPayments(tenantNow, intentIds, { agents, counters, intents }),
      counters,
      book,
      wallets: walletRows,
      riskAssessor,
      credentials,
      refunds,
      transactions: new Map(transactions),
      singleUse: singleUseOf(ofAgents),
      used: new Map(),
      spent: new Set(),
    }
  }

const singleUseOf = ({ cards }: AgentRecords): ReadonlySet<string> =>
  new Set([...cards.values()].flatMap(({ usage, cardId }) => (usage === 'single' ? cardId : [])))

const lockBatch = batchLoader({
  agents: lockSpendingAgents,
  intents: lockIntents,
  counters: (sql, tenantNow, { subjects, agentIds, causes }) =>
    lockCounters(sql, tenantNow, { spending: subjects, causes, agents: agentIds }),
  funds: (sql, tenantNow, { wallets, holds, movesMoney }) =>
    lockBook(sql, tenantNow, { wallets, others: movesMoney ? FACT_ACCOUNTS : [], holds }),
})

export const loadCardBatch = async (
  sql: Sql,
  tenantNow: TenantNow,
  query: CardBatchQuery,
): Promise<CardBatch> => ({
  ...(await lockBatch(sql, tenantNow, query)),
  changed: noChanges(),
})

export const readCardDecisionState = batchLoader<Funds>({
  agents: findSpendingAgents,
  intents: findIntents,
  counters: (sql, tenantNow, { subjects }) => readCounters(sql, tenantNow, subjects),
  async funds(sql, { tenant }, { wallets }) {
    const balances = await readWalletBalances(sql, tenant, wallets)
    return {
      available: wallet => balances.get(wallet)?.availableCents ?? NO_CENTS,
      isFrozen: wallet => balances.get(wallet)?.frozen ?? false,
    }
  },
})

export async function writeCardBatch({ tenant, changed, ...batch }: CardBatch, sql: Sql): Promise<void> {
  await Promise.all([
    insertTransactions(sql, [...changed.newTransactions]),
    updateTransactions(sql, tenant, [...changed.transactions]),
    deleteAuthorizations(sql, tenant, [...changed.merged]),
    insertAuthorizations(sql, [...changed.newAuthorizations]),
    updateAuthorizations(sql, tenant, [...changed.authorizations]),
    insertCardMessages(sql, changed.newMessages),
    insertDecisions(sql, changed.decisions),
    batch.refunds.write(sql),
    batch.payments.write(sql),
    batch.riskAssessor.write(sql),
    batch.credentials.write(sql),
    markCardsSpent(sql, tenant, [...batch.spent], batch.now),
    returnPurses(sql, tenant, cardsWithFreeMoney(changed), batch.now),
    batch.book.post(sql),
  ])
}

const cardsWithFreeMoney = ({ newAuthorizations, authorizations }: BatchChanges): string[] =>
  [...newAuthorizations, ...authorizations].flatMap(
    ({ source, cardId, status, heldCents, refundedCents }) => {
      const isFree = status !== 'declined' && (heldCents === 0n || refundedCents > 0n)
      return source === 'purse' && cardId && isFree ? cardId : []
    },
  )

const FREE_AGENTS = `
select id from agents where owner_id = $1 and mode = $2 and id = any($3::text[]) for no key update skip locked`

const NETWORK_LOCK_WAITS = { sharedTimeoutMs: 50, ownTimeoutMs: 1_000 }

/** Payments first lock their agent. Agents that another transaction has locked do not delay the other payments. */
export const agentLanes = <I>(
  of: LockLanes<I>['of'],
  waits: Pick<LockLanes<I>, 'sharedTimeoutMs' | 'ownTimeoutMs'> = NETWORK_LOCK_WAITS,
): LockLanes<I> => ({
  of,
  ...waits,
  async free(ids, { ownerId, mode }, sql) {
    const rows = await sql<Row & { id: string }>(FREE_AGENTS, [ownerId, mode, ids])
    return rows.map(({ id }) => id)
  },
})
