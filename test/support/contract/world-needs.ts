import type { HttpResponse } from '../harness.ts'

/** What must have been done before, to the same record, for an operation to succeed. */
export const BEFORE: Readonly<Record<string, string>> = {
  'agents.unfreeze': 'agents.freeze',
  'billing.sepaDetails': 'wallets.create',
  'fund.simulateReverse': 'fund.act',
  'intents.verify': 'intents.approve',
  'policies.effective': 'policies.assign',
  'policies.toggle': 'policies.assign',
  'transfers.confirmPayee': 'sandbox.advance',
  'transfers.recall': 'sandbox.advance',
  'transfers.simulateSettle': 'sandbox.advance',
  'transfers.simulateReject': 'sandbox.advance',
  'transfers.simulateReturn': 'sandbox.advance',
  'webhooks.activateSecret': 'webhooks.rotateSecret',
}

/** Of a transfer that stays at the bank. */
const ON_ITS_WAY = { 'transfers.create': { amountEuros: 777.06 }, 'fund.wallet': { amountEuros: 1_000 } }

/** How the records must be that an operation succeeds with, where it is not as the examples have it. */
export const MADE_AS: Readonly<Record<string, Readonly<Record<string, object>>>> = {
  'transfers.confirmPayee': { 'beneficiaries.create': { name: 'No Match GmbH' } },
  'transfers.simulateSettle': ON_ITS_WAY,
  'transfers.simulateReject': ON_ITS_WAY,
  'transfers.simulateReturn': ON_ITS_WAY,
}

/** What fills a collection in which nothing is made by a request of its own. */
export const FILLED_BY: Readonly<Record<string, string>> = {
  '/ledger/accounts': 'fund.wallet',
  '/ledger/transfers': 'fund.wallet',
  '/billing/fundings': 'fund.wallet',
  '/billing/incoming': 'incoming.simulate',
  '/transactions': 'transfers.recall',
  '/webhooks/deliveries': 'webhooks.create',
  // Whose the newest one is does not hang on what was asked before.
  '/events': 'agents.create',
}

/** The page that links to what has no list of its own. */
export const LINKED_FROM: Readonly<Record<string, string>> = { '/docs/assets': 'pages.docs' }

export interface Made {
  readonly by: string
  readonly body: object
  readonly idIn: (body: HttpResponse['body']) => string
}

/** What is made by more than an example says. */
export const MADE_WITH: Readonly<Record<string, Made>> = {
  funding: { by: 'fund.create', body: { amountEuros: 13.03 }, idIn: ({ funding }) => funding.id },
  dlg: { by: 'delegations.create', body: {}, idIn: ({ code }) => code },
}
