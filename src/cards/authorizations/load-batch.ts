import { type BudgetCounters, openCounters, readCounters } from '../../control/budgets/index.ts'
import { openCardTerms } from '../../control/card-terms/index.ts'
import { findIntents, findPayableIntents, lockIntents, Payments } from '../../control/intents/index.ts'
import { holdReferences, intentReference, reservationReferences } from '../../control/payments/index.ts'
import { findSpenders, lockSpenders } from '../../control/policies/index.ts'
import { openRiskAssessor } from '../../control/risk/index.ts'
import type { TenantNow } from '../../kernel/contract/actor.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { balancesOf, type Cause, FORCED_DEBIT_ACCOUNTS, openBook } from '../../money/ledger/index.ts'
import { openRefunds } from '../../money/refunds/index.ts'
import { transactionsById } from '../../money/transactions/index.ts'
import { mainWalletId, type WalletRow, walletsById } from '../../money/wallets/index.ts'
import { openCredentialCharges } from '../agent-credentials/index.ts'
import {
  askedBackAuthorizations,
  authorizationsById,
  authorizationsByRef,
  authorizationsOfIntents,
  authorizationsOfTokens,
  awaitedAuthorizations,
  messagesById,
} from './authorization-rows.ts'
import type { BatchChanges, BatchNeeds, CardBatch, DecisionState, Funds } from './batch.ts'
import { REFUND_SOURCE } from './channel.ts'
import { payingCards } from './paying-card.ts'

const noChanges = (): BatchChanges => ({
  newAuthorizations: new Set(),
  authorizations: new Set(),
  joined: new Set(),
  newTransactions: new Set(),
  transactions: new Set(),
  newMessages: [],
  messages: [],
  decisions: [],
})

/** Everything that is read once the agents are locked, in one round trip: none of it changes without them. */
async function readOfAgents(
  sql: Sql,
  tenantNow: TenantNow,
  needs: BatchNeeds,
  agentsById: typeof lockSpenders,
) {
  const { tenant } = tenantNow
  const awaited = needs.searches.flatMap(({ agentId, merchantKeys }) =>
    merchantKeys.map(merchantKey => ({ agentId, merchantKey })),
  )
  const [agents, terms, cards, byRef, byId, ofIntents, ofTokens, waiting, asked, messages, candidates, main] =
    await Promise.all([
      agentsById(sql, tenant, needs.agentIds),
      openCardTerms(sql, tenant, needs.cardIds),
      payingCards(sql, tenant, needs.numberIds),
      authorizationsByRef(sql, tenant, needs.processorRefs),
      authorizationsById(sql, tenant, needs.authorizationIds),
      authorizationsOfIntents(sql, tenant, needs.intentIds),
      authorizationsOfTokens(sql, tenant, needs.tokenIds),
      awaitedAuthorizations(sql, tenant, awaited),
      askedBackAuthorizations(sql, tenant, needs.unnamedRefunds ?? []),
      messagesById(sql, tenant, needs.messageIds),
      findPayableIntents(sql, tenantNow, needs.searches),
      needs.takesRefunds ? mainWalletId(sql, tenant) : undefined,
    ])
  const rows = new Map(
    [...byRef, ...byId, ...ofIntents, ...ofTokens, ...waiting, ...asked].map(row => [row.id, row]),
  )
  return {
    agents,
    terms,
    cards,
    authorizations: [...rows.values()],
    messages,
    candidates,
    ownersWalletId: main,
  }
}

type OfAgents = Awaited<ReturnType<typeof readOfAgents>>

const present = <T>(values: readonly (T | null | undefined)[]): T[] => [
  ...new Set(values.filter((value): value is T => value !== null && value !== undefined)),
]

const walletIdsOf = ({ agents, cards, authorizations, ownersWalletId }: OfAgents): string[] =>
  present([
    ownersWalletId,
    ...[...agents.values()].map(({ walletId }) => walletId),
    ...[...cards.values()].map(({ walletId }) => walletId),
    ...authorizations.map(({ walletId }) => walletId),
  ])

/** The accounts of the owner that facts move money between. */
const FACT_ACCOUNTS = ['clearing_cards', 'suspense', ...FORCED_DEBIT_ACCOUNTS] as const

interface FundsNeeded {
  readonly wallets: readonly string[]
  readonly holds: readonly Cause[]
  readonly movesMoney: boolean
}

interface CountersNeeded {
  readonly subjects: readonly string[]
  readonly agentIds: readonly string[]
  readonly causes: readonly Cause[]
}

/** The rows that one loader locks and the other only reads. */
interface RowLoaders<F extends Funds> {
  readonly agents: typeof lockSpenders
  readonly intents: typeof lockIntents
  counters(sql: Sql, tenantNow: TenantNow, needed: CountersNeeded): Promise<BudgetCounters>
  funds(sql: Sql, tenantNow: TenantNow, needed: FundsNeeded): Promise<F>
}

/**
 * Loads in the global order of locks: agents, counters, accounts, then intents. Authorizations, messages and transactions of
 * cards change only while their agent is locked, so they need no lock of their own.
 */
const batchLoader =
  <F extends Funds>(rows: RowLoaders<F>) =>
  async (sql: Sql, tenantNow: TenantNow, needs: BatchNeeds): Promise<DecisionState<F>> => {
    const { tenant } = tenantNow
    const { movesMoney } = needs
    const ofAgents = await readOfAgents(sql, tenantNow, needs, rows.agents)
    const { agents, authorizations, candidates } = ofAgents
    const linked = authorizations.map(({ intentId }) => intentId)
    const intentIds = present([...needs.intentIds, ...candidates.flat(), ...linked])
    const intentReferences = intentIds.map(intentReference)
    const agentIds = [...agents.keys()]
    const subjects = present([...agentIds, ...needs.cardIds, ...authorizations.map(({ cardId }) => cardId)])
    const wallets = walletIdsOf(ofAgents)
    const transactionIds = present(authorizations.map(({ transactionId }) => transactionId))
    const causes = [...intentReferences, ...authorizations.flatMap(reservationReferences)]
    const holds = [...intentReferences, ...authorizations.flatMap(holdReferences)]
    const tokenIds = present([
      ...needs.tokenIds,
      ...authorizations.map(({ networkTokenId }) => networkTokenId),
    ])
    const refunded = authorizations.filter(({ facts }) => facts.refunds.length > 0)
    const [counters, book, walletRows, riskAssessor, transactions, intents, credentials, refunds] =
      await Promise.all([
        rows.counters(sql, tenantNow, { subjects, agentIds, causes }),
        rows.funds(sql, tenantNow, { wallets, holds, movesMoney }),
        movesMoney ? walletsById(sql, tenant, wallets) : new Map<string, WalletRow>(),
        openRiskAssessor(sql, tenantNow, needs.spends),
        transactionsById(sql, tenant, transactionIds),
        rows.intents(sql, tenant, intentIds),
        openCredentialCharges(sql, tenant, tokenIds),
        openRefunds(sql, tenantNow, {
          transactionIds: needs.takesRefunds ? transactionIds : [],
          sources: { type: REFUND_SOURCE, ids: refunded.map(({ id }) => id) },
        }),
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
      credentials,
      refunds,
      transactions: new Map(transactions),
      singleUse: singleUseOf(ofAgents),
      used: new Map(),
      spent: new Set(),
    }
  }

const singleUseOf = ({ cards }: OfAgents): ReadonlySet<string> =>
  new Set([...cards.values()].flatMap(({ usage, cardId }) => (usage === 'single' ? cardId : [])))

const lockBatch = batchLoader({
  agents: lockSpenders,
  intents: lockIntents,
  counters: (sql, tenantNow, { subjects, agentIds, causes }) =>
    openCounters(sql, tenantNow, { spending: subjects, causes, agents: agentIds }),
  funds: (sql, tenantNow, { wallets, holds, movesMoney }) =>
    openBook(sql, tenantNow, { wallets, others: movesMoney ? FACT_ACCOUNTS : [], holds }),
})

/** Locks the rows: for callers that write what the batch changes. */
export const loadCardBatch = async (
  sql: Sql,
  tenantNow: TenantNow,
  needs: BatchNeeds,
): Promise<CardBatch> => ({
  ...(await lockBatch(sql, tenantNow, needs)),
  changed: noChanges(),
})

/** Locks nothing: for callers that only want to know what would be decided. */
export const readDecisionState = batchLoader<Funds>({
  agents: findSpenders,
  intents: findIntents,
  counters: (sql, tenantNow, { subjects }) => readCounters(sql, tenantNow, subjects),
  async funds(sql, { tenant }, { wallets }) {
    const balances = await balancesOf(sql, tenant, wallets)
    return {
      available: wallet => balances.get(wallet)?.availableEuros ?? 0n,
      isFrozen: wallet => balances.get(wallet)?.frozen ?? false,
    }
  },
})
