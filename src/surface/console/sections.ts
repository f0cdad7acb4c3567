import { intentsApi } from '../../control/intents/index.ts'
import { customersApi } from '../../identity/customers/index.ts'
import { costsApi, merchantsApi } from '../../insight/analytics/index.ts'
import { forecastApi } from '../../insight/forecast/index.ts'
import { outcomesApi } from '../../insight/outcomes/index.ts'
import { billingApi } from '../../money/billing/index.ts'
import { canvasApi } from '../canvas/index.ts'
import type { Section } from './page.ts'
import { audit, causePage } from './pages/account/audit.ts'
import { consents } from './pages/account/consent.ts'
import { devices, passkeys, signIns } from './pages/account/credentials.ts'
import { dataExports, deletions } from './pages/account/data-protection.ts'
import { delegations } from './pages/account/delegations.ts'
import { deliveries } from './pages/account/deliveries.ts'
import { events } from './pages/account/events.ts'
import { onboardings, submissions } from './pages/account/identity.ts'
import { keys, tokens } from './pages/account/keys.ts'
import { mandates } from './pages/account/mandates.ts'
import { people } from './pages/account/people.ts'
import { runs } from './pages/account/runs.ts'
import { settingsPage } from './pages/account/settings.ts'
import { webhooks } from './pages/account/webhooks.ts'
import { agents } from './pages/agents.ts'
import { approvalsPage } from './pages/decide/approvals.ts'
import { askPage } from './pages/decide/ask.ts'
import { cardRequests } from './pages/decide/card-requests.ts'
import { intents } from './pages/decide/intents.ts'
import { proposals } from './pages/decide/proposals.ts'
import { risk, unusualSpends } from './pages/decide/risk.ts'
import { searchPage } from './pages/decide/search.ts'
import { costsPage } from './pages/insight/costs.ts'
import { forecastPage } from './pages/insight/forecast.ts'
import { merchantsPage } from './pages/insight/merchants.ts'
import { outcomesPage } from './pages/insight/outcomes.ts'
import { authorizations } from './pages/money/authorizations.ts'
import { beneficiaries } from './pages/money/beneficiaries.ts'
import { billingPage, fundings } from './pages/money/billing.ts'
import { cards } from './pages/money/cards.ts'
import { requestPayments, requests } from './pages/money/collect.ts'
import { disputes } from './pages/money/disputes.ts'
import { evidence } from './pages/money/evidence.ts'
import { incoming } from './pages/money/incoming.ts'
import { accounts, entries, postings } from './pages/money/ledger.ts'
import { machinePayments } from './pages/money/machine-payments.ts'
import { protectRules } from './pages/money/protect-rules.ts'
import { receipts } from './pages/money/receipts.ts'
import { refunds } from './pages/money/refunds.ts'
import { statements } from './pages/money/statements.ts'
import { transactions } from './pages/money/transactions.ts'
import { transfers } from './pages/money/transfers.ts'
import { wallets } from './pages/money/wallets.ts'
import { policies, policyPage, presets } from './pages/policies.ts'

type Sections = Readonly<Record<string, Section>>

const groups: Readonly<Record<string, Sections>> = {
  Review: {
    approvals: { title: 'Approvals', needs: intentsApi.list, list: approvalsPage },
    ask: { title: 'Ask', needs: canvasApi.list, list: askPage },
    intents,
    'card-requests': cardRequests,
    proposals,
    risk,
  },
  Control: {
    agents,
    policies: { ...policies, record: policyPage },
  },
  Budgets: { mandates, delegations, runs },
  Money: {
    transactions,
    transfers,
    beneficiaries,
    requests,
    refunds,
    disputes,
    receipts,
    'machine-payments': machinePayments,
    cards,
    wallets,
    incoming,
    statements,
    accounts,
    billing: { title: 'Billing', needs: billingApi.balance, list: billingPage },
  },
  Insight: {
    costs: { title: 'Costs', needs: costsApi.costs, list: costsPage },
    merchants: { title: 'Merchants', needs: merchantsApi.merchants, list: merchantsPage },
    outcomes: {
      title: 'Outcomes',
      needs: outcomesApi.summary,
      list: outcomesPage,
      table: outcomesApi.list,
    },
    forecast: { title: 'Forecast', needs: forecastApi.ofOwner, list: forecastPage },
  },
  Activity: { events, webhooks, deliveries, audit },
  Account: {
    people,
    keys,
    deletions,
    settings: { title: 'Settings', needs: customersApi.me, list: settingsPage },
  },
}

const hiddenSections: Sections = {
  search: { title: 'Search', list: searchPage },
  'unusual-spends': unusualSpends,
  presets,
  authorizations,
  entries,
  evidence,
  fundings,
  postings,
  'request-payments': requestPayments,
  'protect-rules': protectRules,
  passkeys,
  'sign-ins': signIns,
  devices,
  tokens,
  identity: submissions,
  onboarding: onboardings,
  consent: consents,
  exports: dataExports,
  causes: { ...audit, record: causePage },
}

export const navigation = Object.entries(groups)

export const sections: Sections = Object.assign({}, ...Object.values(groups), hiddenSections)
