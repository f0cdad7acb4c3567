import { mandatesApi } from '../../../../control/mandates/index.ts'
import { type Content, type Html, html } from '../../../../web/html.ts'
import type { AnswerOf, PageRequest } from '../../page.ts'
import { operationForm } from '../../parts/form.ts'
import { recordLink } from '../../parts/links.ts'
import { listPage } from '../../parts/list.ts'
import { choicesOf } from '../../parts/names.ts'
import { recordPage } from '../../parts/record-page.ts'
import { box, facts } from '../../parts/table.ts'
import { euros, none, text, time, words } from '../../parts/text.ts'
import { history } from './shared.ts'

type Mandate = AnswerOf<typeof mandatesApi.get>

/** An amount that may not be limited. */
const most = (amount: number | null): Content =>
  amount === null ? html`<span class="none">no limit</span>` : euros(amount)

/** What is left, of each limit that the mandate sets: the narrowest is what counts. */
function left({ dayLeftEuros, monthLeftEuros, totalLeftEuros, countLeft }: Mandate): Html {
  const lefts = [
    dayLeftEuros !== null && html`${euros(dayLeftEuros)} today`,
    monthLeftEuros !== null && html`${euros(monthLeftEuros)} this month`,
    totalLeftEuros !== null && html`${euros(totalLeftEuros)} in all`,
    countLeft !== null && `${countLeft} payments`,
  ].filter(one => one !== false)
  return lefts.length > 0 ? html`${lefts.map((one, n) => html`${n > 0 && html`<br>`}${one}`)}` : none
}

/** What is asked for, with what it is called. */
const labels = {
  agentId: 'Agent',
  name: 'Name',
  'constraints.perTransactionEuros': 'Most for one payment',
  'constraints.perDayEuros': 'Most in a day',
  'constraints.perMonthEuros': 'Most in a month',
  'constraints.totalEuros': 'Most in all',
  'constraints.count': 'Number of payments',
  'constraints.merchants': 'Merchants, one a line; none for any',
  expiresAt: 'Until, by UTC',
}

export const mandatesPage = listPage({
  title: 'Mandates',
  lead: 'What people have allowed agents in advance, and how much of it is left.',
  operation: mandatesApi.list,
  filters: ['status', 'agentId'],
  events: ['mandate.*', 'intent.*', 'transaction.*'],
  names: ['agents'],
  empty: {
    words: 'No mandate yet. A person signs one with a passkey, for payments that need nobody then.',
    command: 'agentpay mandates options --help',
  },
  above: async request =>
    request.may(mandatesApi.create) &&
    operationForm(request, mandatesApi.create, {
      members: Object.keys(labels),
      labels,
      choices: { agentId: await choicesOf('agents', request) },
      submit: 'New mandate',
      fold: true,
    }),
  columns: {
    Mandate: ({ id, name }, request) => recordLink(request, id, name ? text(name) : undefined),
    Agent: 'agentId',
    State: 'status',
    Left: { figure: left },
    Spent: 'spentEuros',
    Until: 'expiresAt',
  },
})

export const mandatePage = recordPage({
  kind: 'Mandate',
  operation: mandatesApi.get,
  events: ['mandate.*', 'intent.*', 'transaction.*'],
  about: ({ agentId }) => [agentId],
  name: ({ name }) => (name ? text(name) : 'Mandate'),
  title: ({ name }) => name ?? 'Mandate',
  body: async (mandate, request) =>
    html`${mandateContent(mandate, request)}${await history(mandate.id, request)}`,
})

function mandateContent(mandate: Mandate, request: PageRequest): Html {
  const { constraints, signedBy, suspendedBecause } = mandate
  const { merchants, mccs, countries } = constraints
  return html`${suspendedBecause !== null && html`<p class="lead">Suspended: ${words(suspendedBecause)}. ${text(mandate.comment)}</p>`}
${changes(mandate, request)}
<div class="boxes">${box(
    'What may still be spent',
    facts([
      ['Left', left(mandate)],
      ['Held', euros(mandate.heldEuros)],
      ['Spent', euros(mandate.spentEuros)],
      ['Agent', recordLink(request, mandate.agentId)],
      ['Until', time(mandate.expiresAt)],
      ['Ended', time(mandate.endedAt)],
    ]),
  )}
${box(
  'What was allowed',
  facts([
    ['One payment', most(constraints.perTransactionEuros)],
    ['In a day', most(constraints.perDayEuros)],
    ['In a month', most(constraints.perMonthEuros)],
    ['In all', most(constraints.totalEuros)],
    ['Payments', constraints.count ?? 'any number'],
    ['Merchants', merchants.length > 0 ? text(merchants.join(', '), 2_000) : 'any'],
    ['Categories', mccs.length > 0 ? mccs.join(', ') : 'any'],
    ['Countries', countries.length > 0 ? countries.join(', ') : 'any'],
    ['Signed by', recordLink(request, signedBy.personId)],
  ]),
)}</div>`
}

function changes({ id, status: state }: Mandate, request: PageRequest): Html {
  if (state !== 'active' && state !== 'suspended') return html``
  const params = { id }
  const members = ['comment']
  return html`<div class="actions">
${
  state === 'active'
    ? operationForm(request, mandatesApi.suspend, { params, members, submit: 'Suspend', fold: true })
    : operationForm(request, mandatesApi.resume, { params, members, submit: 'Resume', fold: true })
}
${operationForm(request, mandatesApi.revoke, { params, members, submit: 'Revoke', tone: 'against', confirm: 'Revoke the mandate? Nothing is approved by it any more, for good.', fold: true })}
</div>`
}
