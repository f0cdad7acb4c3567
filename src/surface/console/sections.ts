import { intentsApi } from '../../control/intents/index.ts'
import { customersApi } from '../../identity/customers/index.ts'
import { costsApi, merchantsApi } from '../../insight/analytics/index.ts'
import { forecastApi } from '../../insight/forecast/index.ts'
import { outcomesApi } from '../../insight/outcomes/index.ts'
import { billingApi } from '../../money/billing/index.ts'
import { canvasApi } from '../canvas/index.ts'
import type { Navigation } from './frame.ts'
import type { Section } from './page.ts'
import { auditPage, causePage } from './pages/account/audit.ts'
import { consentPage } from './pages/account/consent.ts'
import { devicePage, devicesPage, passkeysPage, sessionsPage } from './pages/account/credentials.ts'
import { deletionPage, deletionsPage, exportPage, exportsPage } from './pages/account/data-protection.ts'
import { delegationPage, delegationsPage } from './pages/account/delegations.ts'
import { deliveriesPage, deliveryPage } from './pages/account/deliveries.ts'
import { eventPage, eventsPage } from './pages/account/events.ts'
import { onboardingPage, onboardingsPage, submissionPage, submissionsPage } from './pages/account/identity.ts'
import { keyPage, keysPage, tokensPage } from './pages/account/keys.ts'
import { mandatePage, mandatesPage } from './pages/account/mandates.ts'
import { peoplePage, personPage } from './pages/account/people.ts'
import { runPage, runsPage } from './pages/account/runs.ts'
import { settingsPage } from './pages/account/settings.ts'
import { webhookPage, webhooksPage } from './pages/account/webhooks.ts'
import { agentPage, agentsPage } from './pages/agents.ts'
import { approvalsPage } from './pages/decide/approvals.ts'
import { askPage } from './pages/decide/ask.ts'
import { cardRequestPage, cardRequestsPage } from './pages/decide/card-requests.ts'
import { intentPage, intentsPage } from './pages/decide/intents.ts'
import { proposalPage, proposalsPage } from './pages/decide/proposals.ts'
import { riskPage, unusualSpendsPage } from './pages/decide/risk.ts'
import { searchPage } from './pages/decide/search.ts'
import { costsPage } from './pages/insight/costs.ts'
import { forecastPage } from './pages/insight/forecast.ts'
import { merchantsPage } from './pages/insight/merchants.ts'
import { outcomesPage } from './pages/insight/outcomes.ts'
import { authorizationsPage } from './pages/money/authorizations.ts'
import { beneficiariesPage, beneficiaryPage } from './pages/money/beneficiaries.ts'
import { billingPage, fundingPage, fundingsPage } from './pages/money/billing.ts'
import { cardPage, cardsPage } from './pages/money/cards.ts'
import { requestPage, requestPaymentsPage, requestsPage } from './pages/money/collect.ts'
import { disputePage, disputesPage } from './pages/money/disputes.ts'
import { evidencePage, pieceOfEvidencePage } from './pages/money/evidence.ts'
import { creditPage, incomingPage } from './pages/money/incoming.ts'
import { accountPage, accountsPage, entriesPage, postingPage, postingsPage } from './pages/money/ledger.ts'
import { machinePaymentPage, machinePaymentsPage } from './pages/money/machine-payments.ts'
import { protectRulesPage } from './pages/money/protect-rules.ts'
import { receiptPage, receiptsPage } from './pages/money/receipts.ts'
import { refundPage, refundsPage } from './pages/money/refunds.ts'
import { statementPage, statementsPage } from './pages/money/statements.ts'
import { transactionPage, transactionsPage } from './pages/money/transactions.ts'
import { transferPage, transfersPage } from './pages/money/transfers.ts'
import { walletPage, walletsPage } from './pages/money/wallets.ts'
import { policiesPage, policyPage, presetsPage } from './pages/policies.ts'

const control: Readonly<Record<string, Section>> = {
  agents: { ...agentsPage, record: agentPage },
  policies: { ...policiesPage, record: policyPage },
}

const controlDetails: Readonly<Record<string, Section>> = { presets: presetsPage }

const decide: Readonly<Record<string, Section>> = {
  approvals: { title: 'Approvals', needs: intentsApi.list, list: approvalsPage },
  ask: { title: 'Ask', needs: canvasApi.list, list: askPage },
  intents: { ...intentsPage, record: intentPage },
  'card-requests': { ...cardRequestsPage, record: cardRequestPage },
  proposals: { ...proposalsPage, record: proposalPage },
  risk: riskPage,
}

/** Pages that others lead to. */
const decideDetails: Readonly<Record<string, Section>> = {
  search: { title: 'Search', list: searchPage },
  'unusual-spends': unusualSpendsPage,
}

/** The sections about money, as the navigation shows them. */
const money: Readonly<Record<string, Section>> = {
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
const moneyBeside: Readonly<Record<string, Section>> = {
  authorizations: authorizationsPage,
  entries: entriesPage,
  evidence: { ...evidencePage, record: pieceOfEvidencePage },
  fundings: { ...fundingsPage, record: fundingPage },
  postings: { ...postingsPage, record: postingPage },
  'request-payments': requestPaymentsPage,
  'protect-rules': protectRulesPage,
}

/** What it did cost, whether it was worth it, and what it will cost. */
const insight: Readonly<Record<string, Section>> = {
  costs: { title: 'Costs', needs: costsApi.costs, list: costsPage },
  merchants: { title: 'Merchants', needs: merchantsApi.merchants, list: merchantsPage },
  outcomes: {
    title: 'Outcomes',
    needs: outcomesApi.summary,
    list: outcomesPage,
    table: outcomesApi.list,
  },
  forecast: { title: 'Forecast', needs: forecastApi.ofOwner, list: forecastPage },
}

/** What agents were allowed beside their policies. */
const allowances: Readonly<Record<string, Section>> = {
  mandates: { ...mandatesPage, record: mandatePage },
  delegations: { ...delegationsPage, record: delegationPage },
  runs: { ...runsPage, record: runPage },
}

/** What has happened, and who is told of it. */
const happenings: Readonly<Record<string, Section>> = {
  events: { ...eventsPage, record: eventPage },
  webhooks: { ...webhooksPage, record: webhookPage },
  deliveries: { ...deliveriesPage, record: deliveryPage },
  audit: auditPage,
}

const account: Readonly<Record<string, Section>> = {
  people: { ...peoplePage, record: personPage },
  keys: { ...keysPage, record: keyPage },
  deletions: { ...deletionsPage, record: deletionPage },
  settings: { title: 'Settings', needs: customersApi.me, list: settingsPage },
}

/** Sections to which other pages lead. */
const accountDetails: Readonly<Record<string, Section>> = {
  passkeys: passkeysPage,
  'sign-ins': sessionsPage,
  devices: { ...devicesPage, record: devicePage },
  tokens: tokensPage,
  identity: { ...submissionsPage, record: submissionPage },
  onboarding: { ...onboardingsPage, record: onboardingPage },
  consent: consentPage,
  exports: { ...exportsPage, record: exportPage },
  causes: { ...auditPage, record: causePage },
}

/** The navigation: its groups, and the sections of each in their order. */
export const navigation: Navigation = [
  ['Decide', decide],
  ['Control', control],
  ['Allowed in advance', allowances],
  ['Money', money],
  ['Insight', insight],
  ['What happened', happenings],
  ['Account', account],
]

/** Every section by its name in addresses; the details are those that nobody navigates to. */
export const sections: Readonly<Record<string, Section>> = {
  ...decide,
  ...decideDetails,
  ...control,
  ...controlDetails,
  ...allowances,
  ...money,
  ...moneyBeside,
  ...insight,
  ...happenings,
  ...account,
  ...accountDetails,
}
