import { intentsApi } from '../../control/intents/index.ts'
import { customersApi } from '../../identity/customers/index.ts'
import { anomaliesApi, costsApi, merchantReportsApi } from '../../insight/analytics/index.ts'
import { forecastApi } from '../../insight/forecast/index.ts'
import { outcomesApi } from '../../insight/outcomes/index.ts'
import type { AnyOperation } from '../../kernel/contract/operation.ts'
import { billingApi } from '../../money/billing/index.ts'
import { canvasApi } from '../canvas/index.ts'
import type { ConsoleSection } from './page.ts'
import { assistantsSection } from './pages/account/assistants.ts'
import { auditSection, eventCausePage } from './pages/account/audit.ts'
import { clockSection } from './pages/account/clock.ts'
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
import { ssoSection } from './pages/account/sso.ts'
import { webhooksSection } from './pages/account/webhooks.ts'
import { agentsSection } from './pages/agents.ts'
import { canvasPage } from './pages/decide/ask.ts'
import { cardRequestsSection } from './pages/decide/card-requests.ts'
import { changeRequestsSection } from './pages/decide/change-requests.ts'
import { inboxPage } from './pages/decide/inbox.ts'
import { intentsSection } from './pages/decide/intents.ts'
import { proposalsSection } from './pages/decide/proposals.ts'
import { riskSection, unusualSpendsSection } from './pages/decide/risk.ts'
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
import { doubtfulMoneySection } from './pages/money/doubtful-money.ts'
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
import type { IconName } from './parts/icons.ts'

type Sections = Readonly<Record<string, ConsoleSection>>

export interface ConsoleTab {
  readonly name: string
  readonly section: ConsoleSection
  readonly label: string
  /** The tab is a filter of the section's list. */
  readonly filter?: Readonly<Record<string, string>>
}

export interface ConsolePlace {
  readonly title: string
  /** Places without an icon are in the account menu. */
  readonly icon?: IconName
  readonly tabs: readonly ConsoleTab[]
  /** Shows how many decisions wait. */
  readonly hasBadge?: true
  /** Its reports keep their span from one to the next. */
  readonly keepsSpan?: true
  /** Pages outside of the console, behind the tabs. */
  readonly links?: readonly { readonly label: string; readonly address: string }[]
  /** Sections that pages of this place link to. */
  readonly within?: Sections
}

const tab = (
  name: string,
  section: ConsoleSection,
  label = section.title,
  filter?: ConsoleTab['filter'],
): ConsoleTab => ({ name, section, label, ...(filter && { filter }) })

const inboxSection: ConsoleSection = { title: 'Inbox', needs: intentsApi.list, list: inboxPage }
const billingSection: ConsoleSection = { title: 'Add money', needs: billingApi.balance, list: billingPage }
const policiesWithPage: ConsoleSection = { ...policiesSection, record: policyPage }

const insights: Sections = {
  costs: { title: 'Spend', needs: costsApi.costs, list: costsPage, table: costsApi.costs },
  merchants: {
    title: 'Merchants',
    needs: merchantReportsApi.merchants,
    list: merchantsPage,
    table: merchantReportsApi.merchants,
  },
  forecast: { title: 'Forecast', needs: forecastApi.ofOwner, list: forecastPage },
  outcomes: {
    title: 'Outcomes',
    needs: outcomesApi.summary,
    list: outcomesPage,
    table: outcomesApi.list,
  },
}

const settingsSection: ConsoleSection = { title: 'Settings', needs: customersApi.me, list: settingsPage }

export const HOME: ConsolePlace = { title: 'Home', icon: 'home', tabs: [] }

/** Home comes first. Each section keeps its address: a place only groups sections. */
export const consolePlaces: readonly ConsolePlace[] = [
  HOME,
  {
    title: 'Inbox',
    icon: 'inbox',
    hasBadge: true,
    tabs: [
      tab('inbox', inboxSection, 'Waiting'),
      tab('card-requests', cardRequestsSection),
      tab('change-requests', changeRequestsSection),
      tab('proposals', proposalsSection),
      tab('risk', riskSection),
    ],
    within: { 'unusual-spends': unusualSpendsSection },
  },
  {
    title: 'Payments',
    icon: 'payments',
    tabs: [
      tab('transactions', transactionsSection, 'All'),
      tab('transactions', transactionsSection, 'Card', { type: 'card' }),
      tab('transfers', transfersSection),
      tab('machine-payments', machinePaymentsSection, 'Machine (402)'),
      tab('refunds', refundsSection),
      tab('disputes', disputesSection),
      tab('receipts', receiptsSection),
      tab('doubtful-money', doubtfulMoneySection, 'Doubtful'),
    ],
    within: {
      authorizations: authorizationsSection,
      intents: intentsSection,
      evidence: evidenceSection,
      'protect-rules': protectRulesSection,
    },
  },
  {
    title: 'Agents',
    icon: 'agents',
    tabs: [
      tab('agents', agentsSection),
      tab('cards', cardsSection),
      tab('policies', policiesWithPage),
      tab('mandates', mandatesSection),
      tab('delegations', delegationsSection),
      tab('assistants', assistantsSection, 'Assistants'),
      tab('tokens', agentTokensSection, 'Tokens'),
      tab('runs', runsSection),
    ],
    within: { presets: policyPresetsSection },
  },
  {
    title: 'Money',
    icon: 'money',
    tabs: [
      tab('wallets', walletsSection, 'Balances'),
      tab('billing', billingSection),
      tab('incoming', incomingCreditsSection, 'Incoming'),
      tab('requests', paymentRequestsSection),
      tab('beneficiaries', beneficiariesSection),
      tab('statements', statementsSection),
      tab('accounts', ledgerAccountsSection),
    ],
    within: {
      entries: ledgerEntriesSection,
      fundings: fundingsSection,
      postings: ledgerPostingsSection,
      'request-payments': requestPaymentsSection,
    },
  },
  {
    title: 'Insights',
    icon: 'insights',
    keepsSpan: true,
    tabs: Object.entries(insights).map(([name, section]) => tab(name, section)),
  },
  {
    title: 'Developers',
    icon: 'developers',
    tabs: [
      tab('keys', apiKeysSection),
      tab('webhooks', webhooksSection),
      tab('deliveries', deliveriesSection),
      tab('events', eventsSection),
      tab('audit', auditSection),
      tab('clock', clockSection),
    ],
    links: [{ label: 'Docs', address: 'docs' }],
    within: { causes: { ...auditSection, record: eventCausePage } },
  },
]

export const accountPlace: ConsolePlace = {
  title: 'Account',
  tabs: [
    tab('settings', settingsSection),
    tab('people', peopleSection, 'People & roles'),
    tab('sso', ssoSection),
    tab('passkeys', passkeysSection),
    tab('devices', devicesSection),
    tab('sign-ins', signInsSection),
    tab('deletions', deletionsSection),
    tab('exports', dataExportsSection),
    tab('consent', consentsSection),
    tab('identity', kycSubmissionsSection),
    tab('onboarding', onboardingsSection),
  ],
}

/** Found by the search on every page. */
const askSection: ConsoleSection = { title: 'Ask', needs: canvasApi.list, list: canvasPage }

const sectionsOf = ({ tabs, within = {} }: ConsolePlace): [name: string, section: ConsoleSection][] => [
  ...tabs.map(({ name, section }): [string, ConsoleSection] => [name, section]),
  ...Object.entries(within),
]

const places = [...consolePlaces, accountPlace]

export const consoleSections: Sections = {
  ...Object.fromEntries(places.flatMap(sectionsOf)),
  ask: askSection,
}

/** What `/console/csv/{section}` downloads. The home page lists anomalies, which have no page of their own. */
export function tableOfSection(section: string): AnyOperation | undefined {
  if (section === 'anomalies') return anomaliesApi.anomalies
  return Object.hasOwn(consoleSections, section) ? consoleSections[section]?.table : undefined
}

const placesBySection = new Map(places.flatMap(place => sectionsOf(place).map(([name]) => [name, place])))

export const placeOfSection = (section: string): ConsolePlace | undefined => placesBySection.get(section)

/** Addresses of earlier versions, and their sections now. */
export const movedSections: Readonly<Record<string, string>> = { approvals: 'inbox' }
