import { mandatesApi } from '../../../../control/mandates/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { OperationAnswer } from '../../page.ts'
import { renderRecordLink } from '../../parts/links.ts'
import { consoleSection } from '../../parts/section.ts'
import { countOf, humanize, noneText, renderEuros, renderText } from '../../parts/text.ts'

type Mandate = OperationAnswer<typeof mandatesApi.get>

type Lefts = Pick<Mandate, 'dayLeftEuros' | 'monthLeftEuros' | 'totalLeftEuros' | 'countLeft'>

export function renderMandateLeft({ dayLeftEuros, monthLeftEuros, totalLeftEuros, countLeft }: Lefts): Html {
  const lefts = [
    dayLeftEuros !== null && html`${renderEuros(dayLeftEuros)} today`,
    monthLeftEuros !== null && html`${renderEuros(monthLeftEuros)} this month`,
    totalLeftEuros !== null && html`${renderEuros(totalLeftEuros)} in total`,
    countLeft !== null && countOf(countLeft, 'payment'),
  ].filter(one => one !== false)
  return lefts.length > 0 ? html`${lefts.map((one, n) => html`${n > 0 && html`<br>`}${one}`)}` : noneText
}

const isOpen = ({ status }: Mandate): boolean => status === 'active' || status === 'suspended'

const constraints = {
  'constraints.perTransactionEuros': 'Per payment',
  'constraints.perDayEuros': 'Per day',
  'constraints.perMonthEuros': 'Per month',
  'constraints.totalEuros': 'In total',
  'constraints.count': 'Number of payments',
  'constraints.merchants': 'Merchants, one per line (empty: any)',
}

export const mandatesSection = consoleSection({
  kind: 'Mandate',
  lead: 'Payments that people have approved in advance, and what is left.',
  list: mandatesApi.list,
  get: mandatesApi.get,
  name: ({ name }) => name ?? '',
  columns: ['agentId', 'status', { Left: { figure: renderMandateLeft } }, 'spentEuros', 'expiresAt'],
  labels: {
    perTransactionEuros: 'Per payment',
    perDayEuros: 'Per day',
    perMonthEuros: 'Per month',
    totalEuros: 'In total',
    count: 'Payments',
  },
  shows: {
    Left: renderMandateLeft,
    signedBy: ({ signedBy }, request) => renderRecordLink(request, signedBy.personId),
  },
  hidden: [
    'dayLeftEuros',
    'monthLeftEuros',
    'totalLeftEuros',
    'countLeft',
    'suspendedBecause',
    'comment',
    'jws',
  ],
  events: ['mandate.*', 'intent.*', 'transaction.*'],
  empty: 'No mandates yet. A person signs one with a passkey; payments within it need no further approval.',
  call: 'agentpay mandates options --help',
  create: {
    operation: mandatesApi.create,
    members: ['agentId', 'name', ...Object.keys(constraints), 'expiresAt'],
    labels: { ...constraints, expiresAt: 'Expires' },
    done: 'reload',
  },
  note: ({ suspendedBecause, comment }) =>
    suspendedBecause !== null &&
    html`<p class="lead">Suspended: ${humanize(suspendedBecause)}. ${renderText(comment)}</p>`,
  actions: [
    { operation: mandatesApi.suspend, when: ({ status }) => status === 'active', members: ['comment'] },
    { operation: mandatesApi.resume, when: ({ status }) => status === 'suspended', members: ['comment'] },
    {
      operation: mandatesApi.revoke,
      when: isOpen,
      members: ['comment'],
      tone: 'against',
      confirm: 'Revoke the mandate? It approves no further payments. This cannot be undone.',
    },
  ],
})
