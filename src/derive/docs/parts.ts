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
