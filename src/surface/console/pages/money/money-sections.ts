import { authorizationsApi } from '../../../../cards/authorizations/index.ts'
import { cardsApi } from '../../../../cards/cards/index.ts'
import { collectApi } from '../../../../commerce/collect/index.ts'
import { disputesApi } from '../../../../commerce/disputes/index.ts'
import { evidenceApi } from '../../../../commerce/evidence/index.ts'
import { mppApi, protectApi } from '../../../../commerce/mpp/index.ts'
import { receiptsApi } from '../../../../commerce/receipts/index.ts'
import { refundsApi } from '../../../../commerce/refunds/index.ts'
import { transfersApi } from '../../../../commerce/transfers/index.ts'
import type { AnyOperation } from '../../../../kernel/contract/operation.ts'
import { beneficiariesApi } from '../../../../money/beneficiaries/index.ts'
import { billingApi } from '../../../../money/billing/index.ts'
import { fundApi } from '../../../../money/fundings/index.ts'
import { ownCreditsApi } from '../../../../money/incoming/index.ts'
import { ledgerApi } from '../../../../money/ledger/index.ts'
import { statementsApi } from '../../../../money/statements/index.ts'
import { transactionsApi } from '../../../../money/transactions/index.ts'
import { walletsApi } from '../../../../money/wallets/index.ts'
import type { Page, Section } from '../../page.ts'
import { authorizationsPage } from './authorizations.ts'
import { beneficiariesPage, beneficiaryPage } from './beneficiaries.ts'
import { billingPage, fundingPage, fundingsPage } from './billing.ts'
import { cardPage } from './card.ts'
import { cardsPage } from './cards.ts'
import { requestPage, requestsPage } from './collect.ts'
import { requestPaymentsPage } from './collected.ts'
import { disputePage, disputesPage } from './disputes.ts'
import { entriesPage } from './entries.ts'
import { evidencePage, pieceOfEvidencePage } from './evidence.ts'
import { creditPage, incomingPage } from './incoming.ts'
import { accountPage, accountsPage } from './ledger.ts'
import { machinePaymentPage, machinePaymentsPage } from './machine-payments.ts'
import { postingPage, postingsPage } from './postings.ts'
import { protectRulesPage } from './protect-rules.ts'
import { receiptPage, receiptsPage } from './receipts.ts'
import { refundPage, refundsPage } from './refunds.ts'
import { statementPage, statementsPage } from './statements.ts'
import { transactionPage, transactionsPage } from './transactions.ts'
import { transferPage } from './transfer.ts'
import { transfersPage } from './transfers.ts'
import { walletPage, walletsPage } from './wallets.ts'

/** A section whose list and CSV are those of one operation. */
const section = (title: string, table: AnyOperation, list: Page, record?: Page): Section => ({
  title,
  needs: table,
  table,
  list,
  ...(record && { record }),
})

/** The sections about money, as the navigation shows them. */
export const money: Readonly<Record<string, Section>> = {
  transactions: section('Payments', transactionsApi.list, transactionsPage, transactionPage),
  transfers: section('Transfers', transfersApi.list, transfersPage, transferPage),
  beneficiaries: section('Beneficiaries', beneficiariesApi.list, beneficiariesPage, beneficiaryPage),
  requests: section('Payment requests', collectApi.list, requestsPage, requestPage),
  refunds: section('Refunds', refundsApi.list, refundsPage, refundPage),
  disputes: section('Disputes', disputesApi.list, disputesPage, disputePage),
  receipts: section('Receipts', receiptsApi.list, receiptsPage, receiptPage),
  'machine-payments': section('Machine payments', mppApi.list, machinePaymentsPage, machinePaymentPage),
  cards: section('Cards', cardsApi.list, cardsPage, cardPage),
  wallets: section('Wallets', walletsApi.list, walletsPage, walletPage),
  incoming: section('Incoming credits', ownCreditsApi.own, incomingPage, creditPage),
  statements: section('Statements', statementsApi.list, statementsPage, statementPage),
  accounts: section('Ledger', ledgerApi.accounts, accountsPage, accountPage),
  billing: { title: 'Billing', needs: billingApi.balance, list: billingPage },
}

/** Sections that other pages lead to. */
export const moneyBeside: Readonly<Record<string, Section>> = {
  authorizations: section('Authorizations', authorizationsApi.list, authorizationsPage),
  entries: section('Entries', ledgerApi.entries, entriesPage),
  evidence: section('Evidence', evidenceApi.list, evidencePage, pieceOfEvidencePage),
  fundings: section('Fundings', fundApi.list, fundingsPage, fundingPage),
  postings: section('Postings', ledgerApi.transfers, postingsPage, postingPage),
  'request-payments': section('Payments of a request', collectApi.payments, requestPaymentsPage),
  'protect-rules': section('Rules on machine payments', protectApi.rules, protectRulesPage),
}
