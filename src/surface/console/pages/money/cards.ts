import { cardsApi, controlsApi } from '../../../../cards/cards/index.ts'
import { type Content, html } from '../../../../web/html.ts'
import type { AnswerOf } from '../../page.ts'
import { section } from '../../parts/section.ts'
import { none, status, text, words } from '../../parts/text.ts'
import { explained, newestAuthorizations } from './authorizations.ts'

type Card = AnswerOf<typeof cardsApi.get>

/** `visa …4242`; no number before the processor has issued the card. */
const numberOf = ({ brand, last4 }: Pick<Card, 'brand' | 'last4'>): Content =>
  last4 === null ? none : html`${brand && words(brand)} …${last4}`

const reasonOf = ({ frozenReason, closedReason }: Pick<Card, 'frozenReason' | 'closedReason'>): string =>
  words(frozenReason ?? closedReason ?? '')

const isOpen = ({ status: state }: Card): boolean => state !== 'closed'

export const cards = section({
  kind: 'Card',
  lead: 'What agents pay with at merchants. Limits and controls of a card hold beside the agent’s policy.',
  list: cardsApi.list,
  get: cardsApi.get,
  name: ({ displayName }) => displayName,
  columns: [
    { Number: numberOf },
    { Status: card => html`${status(card.status)} ${reasonOf(card) && text(reasonOf(card), 80)}` },
    'agentId',
    'createdAt',
  ],
  labels: {
    last4: 'Number',
    expMonth: 'Valid until',
    intentId: 'Only for intent',
    requestId: 'Card request',
    walletId: 'Purse',
    balance: 'In the purse',
  },
  shows: {
    last4: numberOf,
    expMonth: ({ expMonth, expYear }) => expMonth !== null && `${expMonth}/${expYear}`,
  },
  hidden: ['displayName', 'brand', 'expYear', 'processorProblem'],
  events: ['card.*', 'transaction.*', 'mobile_wallet.updated'],
  create: {
    operation: cardsApi.create,
    members: [
      'agentId',
      'usage',
      'displayName',
      'limits.maxTransactionEuros',
      'limits.dailyLimitEuros',
      'limits.monthlyLimitEuros',
    ],
    labels: { displayName: 'Name (the agent’s, if left out)' },
    choices: {
      usage: [
        ['multi', 'Until it is closed'],
        ['single', 'One payment'],
      ],
    },
    values: { usage: 'multi' },
    submit: 'Issue a card',
  },
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
        confirm: `Freeze ${displayName}? It pays nothing until it is unfrozen.`,
      }),
    },
    {
      operation: cardsApi.rotate,
      when: card => isOpen(card) && card.status !== 'pending',
      labels: { overlapMinutes: 'The number before still pays for, in minutes' },
      submit: 'New number',
      forRecord: ({ displayName }) => ({ confirm: `Ask for another number for ${displayName}?` }),
    },
    { operation: cardsApi.update, when: isOpen, members: ['displayName'], submit: 'Rename' },
    {
      operation: cardsApi.setLimits,
      when: isOpen,
      submit: 'Change the limits',
      forRecord: ({ limits }) => ({ values: limits }),
    },
    {
      operation: controlsApi.set,
      when: isOpen,
      submit: 'Change the controls',
      forRecord: ({ controls }) => ({ values: controls }),
    },
    {
      operation: cardsApi.fund,
      when: isOpen,
      members: ['amountEuros', 'fromWalletId'],
      labels: { fromWalletId: 'From wallet (the agent’s, if left out)' },
      submit: 'Fill its purse',
    },
    {
      operation: cardsApi.close,
      when: isOpen,
      tone: 'against',
      forRecord: ({ displayName }) => ({
        confirm: `Close ${displayName} for good? What its purse has goes back to the agent’s wallet.`,
      }),
    },
  ],
  note: async ({ id, processorProblem }, request) =>
    html`${processorProblem && html`<p class="refusal">The processor: ${text(processorProblem, 300)}</p>`}${await explained(id, request)}`,
  below: ({ id }, request) => newestAuthorizations(id, request),
})
