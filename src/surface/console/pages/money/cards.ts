import { cardsApi, controlsApi } from '../../../../cards/cards/index.ts'
import { type Content, type Html, html } from '../../../../web/html.ts'
import type { AnswerOf, PageRequest } from '../../page.ts'
import { operationForm } from '../../parts/form.ts'
import { recordLink, runLink } from '../../parts/links.ts'
import { listPage } from '../../parts/list.ts'
import { choicesOf, readNames } from '../../parts/names.ts'
import { recordPage } from '../../parts/record-page.ts'
import { box, facts, knownFacts } from '../../parts/table.ts'
import { euros, none, spaced, status, text, time, words } from '../../parts/text.ts'
import { explained, newestAuthorizations } from './authorizations.ts'

interface Numbered {
  readonly brand: string | null
  readonly last4: string | null
}

/** `visa …4242`; while the processor has not issued it there is no number. */
const numberOf = ({ brand, last4 }: Numbered) =>
  last4 === null ? none : html`${brand && words(brand)} …${last4}`

/** What the limits of a card are called in forms; a limit that is left empty is lifted. */
const limitLabels = (before = ''): Record<string, string> => ({
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

type Card = AnswerOf<typeof cardsApi.get>

function actionsOf(card: Card, request: PageRequest): Content {
  const { id, status: state, displayName: name } = card
  if (state === 'closed') return false
  const params = { id }
  const members = ['reason']
  return html`<div class="actions">
${state === 'inactive' && operationForm(request, cardsApi.activate, { params, submit: 'Activate', tone: 'main' })}
${state === 'frozen' && operationForm(request, cardsApi.unfreeze, { params, submit: 'Unfreeze', tone: 'main' })}
${state === 'active' && operationForm(request, cardsApi.freeze, { params, members, submit: 'Freeze', tone: 'against', confirm: `Freeze ${name}? It pays nothing until it is unfrozen.`, fold: true })}
${state !== 'pending' && operationForm(request, cardsApi.rotate, { params, members: ['overlapMinutes'], labels: { overlapMinutes: 'The number before still pays for, in minutes' }, submit: 'New number', confirm: `Ask for another number for ${name}?`, fold: true })}
${operationForm(request, cardsApi.update, { params, members: ['displayName'], labels: { displayName: 'Name' }, values: { displayName: name }, submit: 'Rename', fold: true })}
${operationForm(request, cardsApi.close, { params, members, submit: 'Close', tone: 'against', confirm: `Close ${name} for good? What its purse has goes back to the agent’s wallet.`, fold: true })}
</div>`
}

const LIMITS = ['maxTransactionEuros', 'dailyLimitEuros', 'monthlyLimitEuros'] as const

const limitOf = (value: unknown): Content =>
  typeof value === 'number' ? euros(value) : html`<span class="none">no limit</span>`

function limitsBox({ id, limits, status: state }: Card, request: PageRequest): Html {
  const labels = limitLabels()
  return box(
    'Limits',
    facts(
      LIMITS.map(name => [(labels[name] ?? name).replace(', in euros', ''), limitOf(limits[name])] as const),
    ),
    state !== 'closed' &&
      operationForm(request, cardsApi.setLimits, {
        params: { id },
        members: LIMITS,
        labels,
        values: limits,
        submit: 'Change the limits',
        fold: true,
      }),
  )
}

const CONTROLS = {
  merchantAllowlist: 'Only these merchants',
  merchantBlocklist: 'Not these merchants',
  allowedCountries: 'Only these countries',
  allowedMccs: 'Only these categories (codes)',
  blockedMccs: 'Not these categories (codes)',
  mccCategories: 'Only these groups of categories',
}

const listed = (value: unknown): Content =>
  Array.isArray(value) && value.length > 0
    ? text(value.join(', '), 400)
    : html`<span class="none">no rule</span>`

function controlsBox({ id, controls, status: state }: Card, request: PageRequest): Html {
  const values: Readonly<Record<string, unknown>> = controls
  return box(
    'Controls',
    facts(Object.entries(CONTROLS).map(([name, label]) => [label, listed(values[name])] as const)),
    state !== 'closed' &&
      operationForm(request, controlsApi.set, {
        params: { id },
        members: Object.keys(CONTROLS),
        labels: CONTROLS,
        values,
        submit: 'Change the controls',
        fold: true,
      }),
  )
}

async function fundForm({ id, status: state }: Card, request: PageRequest): Promise<Content> {
  if (state === 'closed' || !request.may(cardsApi.fund)) return false
  return operationForm(request, cardsApi.fund, {
    params: { id },
    members: ['amountEuros', 'fromWalletId'],
    labels: { fromWalletId: 'From wallet (the agent’s, if left out)' },
    choices: { fromWalletId: await choicesOf('wallets', request) },
    submit: 'Fill its purse',
    fold: true,
  })
}

export const cardPage = recordPage({
  kind: 'Card',
  operation: cardsApi.get,
  events: ['card.*', 'transaction.*', 'mobile_wallet.updated'],
  about: ({ agentId }) => [agentId],
  name: ({ displayName }) => text(displayName, 80),
  title: ({ displayName }) => displayName,
  async body(card, request) {
    const [authorizations, why, fund] = await Promise.all([
      newestAuthorizations(card.id, request),
      explained(card.id, request),
      fundForm(card, request),
      readNames(request, 'agents'),
    ])
    const { balance, walletId, frozenReason, closedReason, processorProblem, workflowId } = card
    return html`${processorProblem && html`<p class="refusal">The processor: ${text(processorProblem, 300)}</p>`}${actionsOf(card, request)}
${why}<div class="boxes">${box(
      'Card',
      knownFacts([
        ['Number', numberOf(card)],
        ['Valid until', card.expMonth ? `${card.expMonth}/${card.expYear}` : none],
        ['Agent', recordLink(request, card.agentId)],
        ['Use', card.usage === 'single' ? 'One payment' : 'Until it is closed'],
        ['Only for intent', recordLink(request, card.intentId)],
        ['Asked for by', recordLink(request, card.requestId)],
        [
          'Purse',
          walletId === null
            ? none
            : spaced(
                recordLink(request, walletId),
                balance && html`${euros(balance.availableEuros)} available, ${euros(balance.heldEuros)} held`,
              ),
        ],
        ['Frozen because', text(frozenReason, 300)],
        ['Closed because', closedReason ? text(words(closedReason), 300) : none],
        ['Closed at', time(card.closedAt)],
        ['Run in Temporal', runLink(request, workflowId)],
      ]),
      fund,
    )}${limitsBox(card, request)}${controlsBox(card, request)}</div>
${authorizations}`
  },
})
