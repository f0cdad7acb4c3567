/** The four parts of the documentation, each with a contents list of its own. */
export const DOCS_PARTS = {
  start: { title: 'Get started', section: '', about: 'A first payment in three minutes, and the tools.' },
  guides: { title: 'Guides', section: 'guides', about: 'One page for each thing that you want to do.' },
  api: { title: 'API', section: 'api', about: 'Every operation, record, event and error code.' },
  operate: {
    title: 'Operate',
    section: 'operate',
    about: 'Deploy, configure, watch, back up and upgrade the service.',
  },
} as const

export type DocsPart = keyof typeof DOCS_PARTS

export const docsPartNames = Object.keys(DOCS_PARTS) as readonly DocsPart[]

export interface ApiPlace {
  readonly id: string
  readonly title: string
  readonly about: string
  readonly tags: readonly string[]
}

/** The chapters of the API in the seven places of the console, the most used first. */
export const API_PLACES: readonly ApiPlace[] = [
  {
    id: 'payments',
    title: 'Payments',
    about: 'From an intent to its payment, refund, dispute and receipt.',
    tags: [
      'Intents',
      'Transactions',
      'Cards',
      'Card Authorizations',
      'Card Controls',
      'Transfers',
      'MPP',
      'Checkout',
      'Credentials',
      'Filler Keys',
      'Access Events',
      'Pass-Through',
      'Payment Tokens',
      'Refunds',
      'Disputes',
      'Doubtful Money',
      'Evidence',
      'Receipts',
    ],
  },
  {
    id: 'agents',
    title: 'Agents',
    about: 'Who spends, and within which limits.',
    tags: [
      'Agents',
      'Agent Tokens',
      'OAuth',
      'Connected Assistants',
      'Policies',
      'Mandates',
      'Delegations',
      'Runs',
      'Risk',
      'Merchants',
    ],
  },
  {
    id: 'money',
    title: 'Money',
    about: 'Wallets, incoming money, payees, statements and the ledger.',
    tags: [
      'Wallets',
      'Fund',
      'Incoming',
      'Claim / Collect',
      'Machine Payments Received',
      'Payment Keys',
      'Payer Page',
      'Beneficiaries',
      'Statements',
      'Billing',
      'Exchange Rates',
      'Ledger',
      'Rails',
    ],
  },
  {
    id: 'inbox',
    title: 'Inbox',
    about: 'What waits for a person.',
    tags: [
      'Card Requests',
      'Change Requests',
      'Proposals',
      'Push Subscriptions',
      'Notification Channels',
      'Pages for people',
    ],
  },
  {
    id: 'insights',
    title: 'Insights',
    about: 'What was spent, on what, and what comes next.',
    tags: ['Analytics', 'Outcomes', 'Forecast', 'Intelligence'],
  },
  {
    id: 'developers',
    title: 'Developers',
    about: 'Keys, webhooks, events, the audit trail and test mode.',
    tags: [
      'Keys',
      'Webhooks',
      'Events',
      'Sandbox',
      'Assistants',
      'Sessions',
      'CLI Auth',
      'Audit',
      'Signing Keys',
      'Well-Known',
      'Merchant Applications',
      'Health',
      'Documentation',
    ],
  },
  {
    id: 'home',
    title: 'Home',
    about: 'The account: its people, its data, and the console.',
    tags: [
      'Customers',
      'People',
      'Deputies',
      'Single Sign-On',
      'Passkeys',
      'Onboarding',
      'KYC',
      'GDPR',
      'Security Incidents',
      'Canvas',
      'Console',
      'The console',
      'Console scripts',
    ],
  },
]

/** The operations of an integration's first day. A test runs their samples in every language. */
export const MOST_USED: readonly string[] = [
  'intents.create',
  'intents.approve',
  'intents.get',
  'intents.list',
  'mpp.pay',
  'cards.create',
  'agents.create',
  'agents.fund',
  'agentTokens.create',
  'policies.create',
  'wallets.create',
  'fund.wallet',
  'transactions.list',
  'webhooks.create',
  'events.list',
]
