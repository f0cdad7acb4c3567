import type { HttpResponse } from '../harness.ts'

/** Operations that must precede another one on the same record. */
export const REQUIRED_BEFORE: Readonly<Record<string, string>> = {
  'agentCredentials.resume': 'agentCredentials.suspend',
  'agents.unfreeze': 'agents.freeze',
  'billing.sepaDetails': 'wallets.create',
  'cards.unfreeze': 'cards.freeze',
  'collect.refund': 'collect.settle',
  'fund.simulateReverse': 'fund.act',
  'gdpr.archive': 'sandbox.advance',
  'intents.verify': 'intents.approve',
  'mandates.resume': 'mandates.suspend',
  'onboarding.update': 'onboarding.requestInformation',
  'people.stopRecovery': 'people.recover',
  'policies.effective': 'policies.assign',
  'policies.toggle': 'policies.assign',
  'transfers.confirmPayee': 'sandbox.advance',
  'transfers.recall': 'sandbox.advance',
  'transfers.simulateSettle': 'sandbox.advance',
  'transfers.simulateReject': 'sandbox.advance',
  'transfers.simulateReturn': 'sandbox.advance',
  'transfers.simulateVerify': 'sandbox.advance',
  'merchantApplications.revoke': 'merchantApplications.approve',
  'securityIncidents.close': 'securityIncidents.classify',
  'securityIncidents.submit': 'securityIncidents.classify',
  'webhooks.activateSecret': 'webhooks.rotateSecret',
}

/** Bodies of transfers that stay submitted. */
const ON_ITS_WAY = { 'transfers.create': { amountEuros: 777.06 }, 'fund.wallet': { amountEuros: 1_000 } }

/** Members that records need for an operation to succeed, where the examples differ. */
export const RECORD_VARIANTS: Readonly<Record<string, Readonly<Record<string, object>>>> = {
  'cards.activate': { 'cards.create': { activate: false } },
  'disputes.find': { 'disputes.create': { reason: 'unauthorized' } },
  'securityIncidents.close': {
    'securityIncidents.classify': {
      decision: { isMajor: false, decidedBy: 'Ada Lovelace', reasons: 'A false alarm.' },
    },
  },
  'transfers.confirmPayee': { 'beneficiaries.create': { name: 'No Match GmbH' } },
  'transfers.simulateSettle': ON_ITS_WAY,
  'transfers.simulateReject': ON_ITS_WAY,
  'transfers.simulateReturn': ON_ITS_WAY,
  'transfers.simulateVerify': ON_ITS_WAY,
}

/** The operation that fills a collection without a POST of its own. */
export const FILLING_OPERATIONS: Readonly<Record<string, string>> = {
  '/access-events': 'accessEvents.access',
  '/billing/suspense': 'incoming.simulate',
  '/ledger/accounts': 'fund.wallet',
  '/ledger/transfers': 'fund.wallet',
  '/billing/fundings': 'fund.wallet',
  '/billing/incoming': 'incoming.simulate',
  '/incoming': 'incoming.simulate',
  '/transactions': 'transfers.recall',
  // Without it, the owner of the newest event would depend on earlier requests.
  '/events': 'agents.create',
}

/** The page that links to resources without a list. */
export const LINKED_FROM: Readonly<Record<string, string>> = {
  '/docs/api': 'pages.docs',
  '/docs/assets': 'pages.docs',
  '/docs/errors': 'pages.docs',
  '/docs/guides': 'pages.docs',
}

export interface SpecialRecord {
  readonly by: string
  readonly body: object
  readonly idIn: (body: HttpResponse['body']) => string
}

/** Records whose creation takes more than an example. */
export const SPECIAL_RECORDS: Readonly<Record<string, SpecialRecord>> = {
  funding: { by: 'fund.create', body: { amountEuros: 13.03 }, idIn: ({ funding }) => funding.id },
  sandboxauth: {
    by: 'sandbox.authorizeCard',
    body: {},
    idIn: ({ authorizationId }) => authorizationId,
  },
  dlg: { by: 'delegations.create', body: {}, idIn: ({ code }) => code },
}
