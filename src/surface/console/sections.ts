import { intentsApi } from '../../control/intents/index.ts'
import { customersApi } from '../../identity/customers/index.ts'
import { costsApi, merchantReportsApi } from '../../insight/analytics/index.ts'
import { forecastApi } from '../../insight/forecast/index.ts'
import { outcomesApi } from '../../insight/outcomes/index.ts'
import { billingApi } from '../../money/billing/index.ts'
import { canvasApi } from '../canvas/index.ts'
import type { ConsoleSection } from './page.ts'
import { auditSection, eventCausePage } from './pages/account/audit.ts'
import { consentsSection } from './pages/account/consent.ts'
import { devicesSection, passkeysSection, signInsSection } from './pages/account/credentials.ts'
import { dataExportsSection, deletionsSection } from './pages/account/data-protection.ts'
import { delegationsSection } from './pages/account/delegations.ts'
import { deliveriesSection } from './pages/account/deliveries.ts'
import { eventsSection } from './pages/account/events.ts'
import { kycSubmissionsSection, onboardingsSection } from './pages/account/identity.ts'
import { agentTokensSection, apiKeysSection } from './pages/account/keys.ts'
import { mandatesSection } from './pages/account/mandates.ts'
import { peopleSection } from './pages/account/people.ts'
import { runsSection } from './pages/account/runs.ts'
import { settingsPage } from './pages/account/settings.ts'
import { webhooksSection } from './pages/account/webhooks.ts'
import { agentsSection } from './pages/agents.ts'
import { canvasPage } from './pages/decide/ask.ts'
import { cardRequestsSection } from './pages/decide/card-requests.ts'
import { inboxPage } from './pages/decide/inbox.ts'
import { intentsSection } from './pages/decide/intents.ts'
import { proposalsSection } from './pages/decide/proposals.ts'
import { riskSection, unusualSpendsSection } from './pages/decide/risk.ts'
import { searchPage } from './pages/decide/search.ts'
import { costsPage } from './pages/insight/costs.ts'
import { forecastPage } from './pages/insight/forecast.ts'
import { merchantsPage } from './pages/insight/merchants.ts'
import { outcomesPage } from './pages/insight/outcomes.ts'
import { authorizationsSection } from './pages/money/authorizations.ts'
import { beneficiariesSection } from './pages/money/beneficiaries.ts'
import { billingPage, fundingsSection } from './pages/money/billing.ts'
import { cardsSection } from './pages/money/cards.ts'
import { paymentRequestsSection, requestPaymentsSection } from './pages/money/collect.ts'
import { disputesSection } from './pages/money/disputes.ts'
import { evidenceSection } from './pages/money/evidence.ts'
import { incomingCreditsSection } from './pages/money/incoming.ts'
import { ledgerAccountsSection, ledgerEntriesSection, ledgerPostingsSection } from './pages/money/ledger.ts'
import { machinePaymentsSection } from './pages/money/machine-payments.ts'
import { protectRulesSection } from './pages/money/protect-rules.ts'
import { receiptsSection } from './pages/money/receipts.ts'
import { refundsSection } from './pages/money/refunds.ts'
import { statementsSection } from './pages/money/statements.ts'
import { transactionsSection } from './pages/money/transactions.ts'
import { transfersSection } from './pages/money/transfers.ts'
import { walletsSection } from './pages/money/wallets.ts'
import { policiesSection, policyPage, policyPresetsSection } from './pages/policies.ts'

type Sections = Readonly<Record<string, ConsoleSection>>

const groups: Readonly<Record<string, Sections>> = {
  Review: {
    inbox: { title: 'Inbox', needs: intentsApi.list, list: inboxPage },
    ask: { title: 'Ask', needs: canvasApi.list, list: canvasPage },
    intents: intentsSection,
    'card-requests': cardRequestsSection,
    proposals: proposalsSection,
    risk: riskSection,
  },
  Control: {
    agents: agentsSection,
    policies: { ...policiesSection, record: policyPage },
  },
  Budgets: { mandates: mandatesSection, delegations: delegationsSection, runs: runsSection },
  Money: {
    transactions: transactionsSection,
    transfers: transfersSection,
    beneficiaries: beneficiariesSection,
    requests: paymentRequestsSection,
    refunds: refundsSection,
    disputes: disputesSection,
    receipts: receiptsSection,
    'machine-payments': machinePaymentsSection,
    cards: cardsSection,
    wallets: walletsSection,
    incoming: incomingCreditsSection,
    statements: statementsSection,
    accounts: ledgerAccountsSection,
    billing: { title: 'Billing', needs: billingApi.balance, list: billingPage },
  },
  Insight: {
    costs: { title: 'Costs', needs: costsApi.costs, list: costsPage },
    merchants: { title: 'Merchants', needs: merchantReportsApi.merchants, list: merchantsPage },
    outcomes: {
      title: 'Outcomes',
      needs: outcomesApi.summary,
      list: outcomesPage,
      table: outcomesApi.list,
    },
    forecast: { title: 'Forecast', needs: forecastApi.ofOwner, list: forecastPage },
  },
  Activity: {
    events: eventsSection,
    webhooks: webhooksSection,
    deliveries: deliveriesSection,
    audit: auditSection,
  },
  Account: {
    people: peopleSection,
    keys: apiKeysSection,
    deletions: deletionsSection,
    settings: { title: 'Settings', needs: customersApi.me, list: settingsPage },
  },
}

const hiddenSections: Sections = {
  approvals: { title: 'Inbox', needs: intentsApi.list, list: inboxPage },
  search: { title: 'Search', list: searchPage },
  'unusual-spends': unusualSpendsSection,
  presets: policyPresetsSection,
  authorizations: authorizationsSection,
  entries: ledgerEntriesSection,
  evidence: evidenceSection,
  fundings: fundingsSection,
  postings: ledgerPostingsSection,
  'request-payments': requestPaymentsSection,
  'protect-rules': protectRulesSection,
  passkeys: passkeysSection,
  'sign-ins': signInsSection,
  devices: devicesSection,
  tokens: agentTokensSection,
  identity: kycSubmissionsSection,
  onboarding: onboardingsSection,
  consent: consentsSection,
  exports: dataExportsSection,
  causes: { ...auditSection, record: eventCausePage },
}

export const consoleNavigation = Object.entries(groups)

export const consoleSections: Sections = Object.assign({}, ...Object.values(groups), hiddenSections)
