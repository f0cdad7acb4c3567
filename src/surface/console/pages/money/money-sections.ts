import { billingApi } from '../../../../money/billing/index.ts'
import type { Section } from '../../page.ts'
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

/** The sections about money, as the navigation shows them. */
export const money: Readonly<Record<string, Section>> = {
  transactions: { ...transactionsPage, record: transactionPage },
  transfers: { ...transfersPage, record: transferPage },
  beneficiaries: { ...beneficiariesPage, record: beneficiaryPage },
  requests: { ...requestsPage, record: requestPage },
  refunds: { ...refundsPage, record: refundPage },
  disputes: { ...disputesPage, record: disputePage },
  receipts: { ...receiptsPage, record: receiptPage },
  'machine-payments': { ...machinePaymentsPage, record: machinePaymentPage },
  cards: { ...cardsPage, record: cardPage },
  wallets: { ...walletsPage, record: walletPage },
  incoming: { ...incomingPage, record: creditPage },
  statements: { ...statementsPage, record: statementPage },
  accounts: { ...accountsPage, record: accountPage },
  billing: { title: 'Billing', needs: billingApi.balance, list: billingPage },
}

/** Sections that other pages lead to. */
export const moneyBeside: Readonly<Record<string, Section>> = {
  authorizations: authorizationsPage,
  entries: entriesPage,
  evidence: { ...evidencePage, record: pieceOfEvidencePage },
  fundings: { ...fundingsPage, record: fundingPage },
  postings: { ...postingsPage, record: postingPage },
  'request-payments': requestPaymentsPage,
  'protect-rules': protectRulesPage,
}
