import { type BudgetCounters, openCounters } from '../../control/budgets/index.ts'
import { type CardTermsRow, openCardTerms } from '../../control/card-terms/index.ts'
import { type DecisionRow, insertDecisions } from '../../control/decisions/index.ts'
import { findPayableIntents, type IntentSearch, lockIntents, Payments } from '../../control/intents/index.ts'
import { lockSpenders, type Spender } from '../../control/policies/index.ts'
import { openRiskAssessor, type RiskAssessor } from '../../control/risk/index.ts'
import type { TenantNow } from '../../kernel/contract/actor.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { type Book, FORCED_DEBIT_ACCOUNTS, openBook } from '../../money/ledger/index.ts'
import {
  insertTransactions,
  type TransactionRow,
  transactionsById,
  updateTransactions,
} from '../../money/transactions/index.ts'
import { type WalletRow, walletsById } from '../../money/wallets/index.ts'
import {
  type AuthorizationRow,
  authorizationsById,
  authorizationsByRef,
  authorizationsOfIntents,
  awaitedAuthorizations,
  insertAuthorizations,
  insertMessages,
  type MessageRow,
  messagesById,
  updateAuthorizations,
  updateMessages,
} from './authorization-rows.ts'
import { holdCausesOf, intentCause, reservationCausesOf } from './causes.ts'
import { type PayingCard, payingCards } from './paying-card.ts'

/** What a batch of messages, confirmations or deadlines is about. */
export interface BatchNeeds {
  readonly agentIds: readonly string[]
  readonly cardIds: readonly string[]
  readonly numberIds: readonly string[]
  readonly messageIds: readonly string[]
  readonly processorRefs: readonly string[]
  readonly authorizationIds: readonly string[]
  /** Intents that a checkout confirms. */
  readonly intentIds: readonly string[]
  /** The payments that may be covered by an intent, in the order of the requests. */
  readonly searches: readonly IntentSearch[]
  /** Spends whose risk is assessed. */
  readonly spends: readonly { readonly agentId: string; readonly merchant: string }[]
  /** Facts move money between the accounts of the owner; questions only hold it. */
  readonly movesMoney: boolean
}

/** The records that a batch goes by, locked through their agents, and what it has changed so far. */
export interface CardBatch extends TenantNow {
  readonly agents: ReadonlyMap<string, Spender>
  readonly cards: ReadonlyMap<string, PayingCard>
  readonly terms: ReadonlyMap<string, CardTermsRow>
  readonly authorizations: Set<AuthorizationRow>
  readonly messages: Map<string, MessageRow>
  /** The intents that could cover each search, the best first. */
  readonly candidates: ReadonlyMap<IntentSearch, readonly string[]>
  readonly payments: Payments
  readonly counters: BudgetCounters
  readonly book: Book
  readonly wallets: ReadonlyMap<string, WalletRow>
  readonly riskAssessor: RiskAssessor
  readonly transactions: Map<string, TransactionRow>
  /** The cards for one payment, and the payments that they have made in this batch. */
  readonly singleUse: ReadonlySet<string>
  readonly used: Map<string, string>
  /** The cards for one payment whose payment has ended. */
  readonly spent: Set<string>
  readonly changed: BatchChanges
}

interface BatchChanges {
  readonly newAuthorizations: Set<AuthorizationRow>
  readonly authorizations: Set<AuthorizationRow>
  readonly newTransactions: Set<TransactionRow>
  readonly transactions: Set<TransactionRow>
  readonly newMessages: MessageRow[]
  readonly messages: MessageRow[]
  readonly decisions: DecisionRow[]
}

const noChanges = (): BatchChanges => ({
  newAuthorizations: new Set(),
  authorizations: new Set(),
  newTransactions: new Set(),
  transactions: new Set(),
  newMessages: [],
  messages: [],
  decisions: [],
})

/** Everything that is read once the agents are locked, in one round trip: none of it changes without them. */
async function readOfAgents(sql: Sql, tenantNow: TenantNow, needs: BatchNeeds) {
  const { tenant } = tenantNow
  const awaited = needs.searches.flatMap(({ agentId, merchantKeys }) =>
    merchantKeys.map(merchantKey => ({ agentId, merchantKey })),
  )
  const [agents, terms, cards, byRef, byId, ofIntents, waiting, messages, candidates] = await Promise.all([
    lockSpenders(sql, tenant, needs.agentIds),
    openCardTerms(sql, tenant, needs.cardIds),
    payingCards(sql, tenant, needs.numberIds),
    authorizationsByRef(sql, tenant, needs.processorRefs),
    authorizationsById(sql, tenant, needs.authorizationIds),
    authorizationsOfIntents(sql, tenant, needs.intentIds),
    awaitedAuthorizations(sql, tenant, awaited),
    messagesById(sql, tenant, needs.messageIds),
    findPayableIntents(sql, tenantNow, needs.searches),
  ])
  const rows = new Map([...byRef, ...byId, ...ofIntents, ...waiting].map(row => [row.id, row]))
  return { agents, terms, cards, authorizations: [...rows.values()], messages, candidates }
}

type OfAgents = Awaited<ReturnType<typeof readOfAgents>>

const present = <T>(values: readonly (T | null | undefined)[]): T[] => [
  ...new Set(values.filter((value): value is T => value !== null && value !== undefined)),
]

const walletIdsOf = ({ agents, cards, authorizations }: OfAgents): string[] =>
  present([
    ...[...agents.values()].map(({ walletId }) => walletId),
    ...[...cards.values()].map(({ walletId }) => walletId),
    ...authorizations.map(({ walletId }) => walletId),
  ])

/** The accounts of the owner that facts move money between. */
const FACT_ACCOUNTS = ['clearing_cards', 'suspense', ...FORCED_DEBIT_ACCOUNTS] as const

/**
 * Locks in the global order: agents, counters, accounts, then intents. Authorizations, messages and transactions of cards
 * change only while their agent is locked, so they need no lock of their own.
 */
export async function loadCardBatch(sql: Sql, tenantNow: TenantNow, needs: BatchNeeds): Promise<CardBatch> {
  const { tenant } = tenantNow
  const ofAgents = await readOfAgents(sql, tenantNow, needs)
  const { agents, authorizations, candidates } = ofAgents
  const intentIds = present([
    ...needs.intentIds,
    ...candidates.flat(),
    ...authorizations.map(({ intentId }) => intentId),
  ])
  const intentCauses = intentIds.map(intentCause)
  const agentIds = [...agents.keys()]
  const wallets = walletIdsOf(ofAgents)
  const [counters, book, walletRows, riskAssessor, transactions, intents] = await Promise.all([
    openCounters(sql, tenantNow, {
      spending: [...agentIds, ...needs.cardIds],
      causes: [...intentCauses, ...authorizations.flatMap(reservationCausesOf)],
      agents: agentIds,
    }),
    openBook(sql, tenantNow, {
      wallets,
      others: needs.movesMoney ? FACT_ACCOUNTS : [],
      holds: [...intentCauses, ...authorizations.flatMap(holdCausesOf)],
    }),
    needs.movesMoney ? walletsById(sql, tenant, wallets) : new Map<string, WalletRow>(),
    openRiskAssessor(sql, tenantNow, needs.spends),
    transactionsById(sql, tenant, present(authorizations.map(({ transactionId }) => transactionId))),
    lockIntents(sql, tenant, intentIds),
  ])
  return {
    ...tenantNow,
    ...ofAgents,
    authorizations: new Set(authorizations),
    messages: new Map(ofAgents.messages.map(message => [message.id, message])),
    candidates: new Map(needs.searches.map((search, n) => [search, candidates[n] ?? []])),
    payments: new Payments(tenantNow, intentIds, { agents, counters, intents }),
    counters,
    book,
    wallets: walletRows,
    riskAssessor,
    transactions: new Map(transactions),
    singleUse: new Set(
      [...ofAgents.cards.values()].flatMap(({ usage, cardId }) => (usage === 'single' ? cardId : [])),
    ),
    used: new Map(),
    spent: new Set(),
    changed: noChanges(),
  }
}

/** Writes what the batch has changed, each table in one statement. */
export async function writeCardBatch({ tenant, changed, ...batch }: CardBatch, sql: Sql): Promise<void> {
  await Promise.all([
    insertTransactions(sql, [...changed.newTransactions]),
    updateTransactions(sql, tenant, [...changed.transactions]),
    insertAuthorizations(sql, [...changed.newAuthorizations]),
    updateAuthorizations(sql, tenant, [...changed.authorizations]),
    insertMessages(sql, changed.newMessages),
    updateMessages(sql, tenant, changed.messages),
    insertDecisions(sql, changed.decisions),
    batch.payments.write(sql),
    batch.riskAssessor.write(sql),
    batch.book.post(sql),
  ])
}
