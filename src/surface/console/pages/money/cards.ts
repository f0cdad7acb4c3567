import { cardControlsApi, cardsApi } from '../../../../cards/cards/index.ts'
import { type HtmlContent, html } from '../../../../web/html.ts'
import type { OperationAnswer } from '../../page.ts'
import type { CreationFormSpec } from '../../parts/actions.ts'
import { consoleSection } from '../../parts/section.ts'
import { humanize, noneText, renderStatus, renderText, valueText } from '../../parts/text.ts'
import { renderAuthorizationDetails, renderNewestAuthorizations } from './authorizations.ts'

type Card = OperationAnswer<typeof cardsApi.get>

/** `visa …4242`. A card has no number until the processor has issued it. */
const numberOf = ({ brand, last4 }: Pick<Card, 'brand' | 'last4'>): HtmlContent =>
  last4 === null ? noneText : html`${brand && valueText(brand)} …${last4}`

const reasonOf = ({ frozenReason, closedReason }: Pick<Card, 'frozenReason' | 'closedReason'>): string =>
  humanize(frozenReason ?? closedReason ?? '')

const isOpen = ({ status: state }: Card): boolean => state !== 'closed'

/** On the page of an agent, the agent is given. */
export const cardCreation = {
  operation: cardsApi.create,
  members: [
    'agentId',
    'usage',
    'displayName',
    'limits.maxTransactionEuros',
    'limits.dailyLimitEuros',
    'limits.monthlyLimitEuros',
  ],
  labels: {
    displayName: 'Name (default: the agent’s)',
    'limits.maxTransactionEuros': 'Per payment (€)',
    'limits.dailyLimitEuros': 'Per day (€)',
    'limits.monthlyLimitEuros': 'Per month (€)',
  },
  choices: {
    usage: [
      ['multi', 'Multiple payments'],
      ['single', 'Single payment'],
    ],
  },
  values: { usage: 'multi' },
  submit: 'Issue card',
} satisfies CreationFormSpec

export const cardsSection = consoleSection({
  kind: 'Card',
  lead: 'Virtual cards of agents. Card limits and controls apply in addition to the agent’s policy.',
  list: cardsApi.list,
  summary: 'newest',
  guide: 'runs-and-delegations',
  get: cardsApi.get,
  name: ({ displayName }) => displayName,
  columns: [
    { Number: numberOf },
    {
      Status: card => html`${renderStatus(card.status)} ${reasonOf(card) && renderText(reasonOf(card), 80)}`,
    },
    'agentId',
    'createdAt',
  ],
  labels: {
    last4: 'Number',
    expMonth: 'Expires',
    intentId: 'Intent',
    requestId: 'Card request',
    walletId: 'Purse',
    balance: 'Purse balance',
  },
  shows: {
    last4: numberOf,
    expMonth: ({ expMonth, expYear }) => expMonth !== null && `${expMonth}/${expYear}`,
  },
  hidden: ['displayName', 'brand', 'expYear', 'processorProblem'],
  events: ['card.*', 'transaction.*', 'mobile_wallet.updated'],
  create: cardCreation,
  actions: [
    { operation: cardsApi.activate, when: ({ status: state }) => state === 'inactive', tone: 'main' },
    {
      operation: cardsApi.unfreeze,
      when: ({ status: state }) => state === 'frozen',
      members: [],
      tone: 'main',
    },
    {
      operation: cardsApi.freeze,
      when: ({ status: state }) => state === 'active',
      tone: 'against',
      forRecord: ({ displayName }) => ({
        confirm: `Freeze ${displayName}? Payments are declined until you unfreeze it.`,
      }),
    },
    {
      operation: cardsApi.rotate,
      when: card => isOpen(card) && card.status !== 'pending',
      labels: { overlapMinutes: 'Keep the old number for (minutes)' },
      submit: 'Rotate number',
      inMenu: true,
      forRecord: ({ displayName }) => ({ confirm: `Issue a new number for ${displayName}?` }),
    },
    { operation: cardsApi.update, when: isOpen, members: ['displayName'], submit: 'Rename', inMenu: true },
    {
      operation: cardsApi.setLimits,
      when: isOpen,
      submit: 'Change limits',
      forRecord: ({ limits }) => ({ values: limits }),
    },
    {
      operation: cardControlsApi.set,
      when: isOpen,
      submit: 'Change controls',
      forRecord: ({ controls }) => ({ values: controls }),
    },
    {
      operation: cardsApi.fund,
      when: isOpen,
      members: ['amountEuros', 'fromWalletId'],
      labels: { fromWalletId: 'From wallet (default: the agent’s)' },
      submit: 'Fund purse',
      inMenu: true,
    },
    {
      operation: cardsApi.close,
      when: isOpen,
      inMenu: true,
      tone: 'against',
      forRecord: ({ displayName }) => ({
        confirm: `Close ${displayName}? The balance of its purse moves to the agent’s wallet. This cannot be undone.`,
      }),
    },
  ],
  note: async ({ id, processorProblem }, request) =>
    html`${processorProblem && html`<p class="refusal">Processor error: ${renderText(processorProblem, 300)}</p>`}${await renderAuthorizationDetails(id, request)}`,
  below: ({ id }, request) => renderNewestAuthorizations(id, request),
})
