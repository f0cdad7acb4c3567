import type { BudgetCounters } from '../../control/budgets/index.ts'
import type { CardTermsRow } from '../../control/card-terms/index.ts'
import { type DecisionRow, insertDecisions } from '../../control/decisions/index.ts'
import type { IntentSearch, Payments } from '../../control/intents/index.ts'
import type { Spender } from '../../control/policies/index.ts'
import type { RiskAssessor } from '../../control/risk/index.ts'
import type { TenantNow } from '../../kernel/contract/actor.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import type { Book } from '../../money/ledger/index.ts'
import type { Refunds } from '../../money/refunds/index.ts'
import {
  insertTransactions,
  type TransactionRow,
  updateTransactions,
} from '../../money/transactions/index.ts'
import type { WalletRow } from '../../money/wallets/index.ts'
import type { CredentialCharges } from '../agent-credentials/index.ts'
import { returnPurses, spendCards } from '../cards/index.ts'
import {
  type AuthorizationRow,
  deleteAuthorizations,
  insertAuthorizations,
  insertMessages,
  type MessageRow,
  type UnnamedRefund,
  updateAuthorizations,
  updateMessages,
} from './authorization-rows.ts'
import type { PayingCard } from './paying-card.ts'

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
  /** Network tokens that pay. */
  readonly tokenIds: readonly string[]
  /** Money that has come back and names no payment: where it was asked for, it is of that payment. */
  readonly unnamedRefunds?: readonly UnnamedRefund[]
  /** Whether a message tells of money that comes back. */
  readonly takesRefunds?: boolean
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
  /** Where money comes back to if the wallet that has paid is closed; undefined where none comes back, or there is none. */
  readonly ownersWalletId: string | undefined
  readonly refunds: Refunds
  readonly riskAssessor: RiskAssessor
  readonly credentials: CredentialCharges
  readonly transactions: Map<string, TransactionRow>
  /** The cards for one payment, and the payments that they have made in this batch. */
  readonly singleUse: ReadonlySet<string>
  readonly used: Map<string, string>
  /** The cards for one payment whose payment has ended. */
  readonly spent: Set<string>
  readonly changed: BatchChanges
}

export interface BatchChanges {
  readonly newAuthorizations: Set<AuthorizationRow>
  readonly authorizations: Set<AuthorizationRow>
  /** Payments that turned out to be machine payments which were begun before: they are those from now on. */
  readonly joined: Set<AuthorizationRow>
  readonly newTransactions: Set<TransactionRow>
  readonly transactions: Set<TransactionRow>
  readonly newMessages: MessageRow[]
  readonly messages: MessageRow[]
  readonly decisions: DecisionRow[]
}

/** The money in wallets: the ledger's locked book, or balances that were only read. */
export type Funds = Pick<Book, 'available' | 'isFrozen'>

/** What a question is decided by: nothing of it changes by the decision. */
export type DecisionState<F extends Funds = Funds> = Omit<CardBatch, 'book' | 'changed'> & {
  readonly book: F
}

/** Writes what the batch has changed, each table in one statement. */
export async function writeCardBatch({ tenant, changed, ...batch }: CardBatch, sql: Sql): Promise<void> {
  await Promise.all([
    insertTransactions(sql, [...changed.newTransactions]),
    updateTransactions(sql, tenant, [...changed.transactions]),
    deleteAuthorizations(sql, tenant, [...changed.joined]),
    insertAuthorizations(sql, [...changed.newAuthorizations]),
    updateAuthorizations(sql, tenant, [...changed.authorizations]),
    insertMessages(sql, changed.newMessages),
    updateMessages(sql, tenant, changed.messages),
    insertDecisions(sql, changed.decisions),
    batch.refunds.write(sql),
    batch.payments.write(sql),
    batch.riskAssessor.write(sql),
    batch.credentials.write(sql),
    spendCards(sql, tenant, [...batch.spent], batch.now),
    returnPurses(sql, tenant, cardsWithFreeMoney(changed), batch.now),
    batch.book.post(sql),
  ])
}

/** The cards whose purse has got money or been freed of a hold: a closed one gives it back. */
const cardsWithFreeMoney = ({ newAuthorizations, authorizations }: BatchChanges): string[] =>
  [...newAuthorizations, ...authorizations].flatMap(
    ({ source, cardId, status, heldEuros, refundedEuros }) => {
      const isFree = status !== 'declined' && (heldEuros === 0n || refundedEuros > 0n)
      return source === 'purse' && cardId && isFree ? cardId : []
    },
  )
