import { cardsApi } from '../../../../cards/cards/index.ts'
import { html } from '../../../../web/html.ts'
import { operationForm } from '../../parts/form.ts'
import { recordLink } from '../../parts/links.ts'
import { listPage } from '../../parts/list.ts'
import { choicesOf } from '../../parts/names.ts'
import { euros, none, status, text, words } from '../../parts/text.ts'

interface Numbered {
  readonly brand: string | null
  readonly last4: string | null
}

/** `visa …4242`; while the processor has not issued it there is no number. */
export const numberOf = ({ brand, last4 }: Numbered) =>
  last4 === null ? none : html`${brand && words(brand)} …${last4}`

/** What the limits of a card are called in forms; a limit that is left empty is lifted. */
export const limitLabels = (before = ''): Record<string, string> => ({
  [`${before}maxTransactionEuros`]: 'A payment at most, in euros',
  [`${before}dailyLimitEuros`]: 'A day at most, in euros',
  [`${before}monthlyLimitEuros`]: 'A month at most, in euros',
})

/** What is asked for, with what it is called. */
const labels = {
  agentId: 'For agent',
  usage: 'For how many payments',
  displayName: 'Name (the agent’s, if left out)',
  ...limitLabels('limits.'),
}

export const cardsPage = listPage({
  title: 'Cards',
  lead: 'What agents pay with at merchants. Limits and controls of a card hold beside the agent’s policy.',
  operation: cardsApi.list,
  filters: ['status', 'agentId', 'intentId', 'from', 'to'],
  events: ['card.*'],
  empty: {
    words: 'No card yet. Issue one for an agent.',
    command: 'agentpay cards create --agent-id agent_… --usage multi',
  },
  above: async request =>
    operationForm(request, cardsApi.create, {
      members: Object.keys(labels),
      labels,
      choices: {
        agentId: await choicesOf('agents', request),
        usage: [
          ['multi', 'Until it is closed'],
          ['single', 'One payment'],
        ],
      },
      values: { usage: 'multi' },
      submit: 'Issue a card',
      done: 'go:console/cards/{id}',
      fold: true,
    }),
  names: ['agents'],
  columns: {
    Card: ({ id, displayName }, request) => recordLink(request, id, text(displayName, 60)),
    Number: numberOf,
    State: ({ status: state, frozenReason, closedReason }) =>
      html`${status(state)} ${(frozenReason ?? closedReason) && text(words(frozenReason ?? closedReason ?? ''), 80)}`,
    Agent: 'agentId',
    'A payment at most': {
      figure: ({ limits }) =>
        typeof limits.maxTransactionEuros === 'number' ? euros(limits.maxTransactionEuros) : none,
    },
    Since: 'createdAt',
  },
})
