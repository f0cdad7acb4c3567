import { agentTokensApi } from '../../../control/agent-tokens/index.ts'
import { agentsApi } from '../../../control/agents/index.ts'
import type { AgentUsage } from '../../../control/policies/index.ts'
import { agentUsageApi, policiesApi } from '../../../control/policies/index.ts'
import { walletsApi } from '../../../money/wallets/index.ts'
import { type Html, html } from '../../../web/html.ts'
import type { OperationAnswer, PageRequest } from '../page.ts'
import type { FieldChoices } from '../parts/form.ts'
import { renderRecordLink } from '../parts/links.ts'
import { consoleSection } from '../parts/section.ts'
import { renderBox, renderFacts } from '../parts/table.ts'
import { formatPlainEuros, renderEuros, renderText, renderUsage, sumEuros } from '../parts/text.ts'
import { type EffectivePolicyAnswer, fetchEffectivePolicy, renderAgentLimits } from './agent-budgets.ts'
import { agentTabs } from './agent-tabs.ts'

type Period = AgentUsage['day']
type Agent = OperationAnswer<typeof agentsApi.get>

const used = ({ limitEuros, heldEuros, spentEuros }: Period): Html =>
  renderUsage(sumEuros([spentEuros, heldEuros]), limitEuros)

const isOpen = ({ status }: Agent): boolean => ['active', 'frozen'].includes(status)

export const agentsSection = consoleSection({
  kind: 'Agent',
  lead: 'Programs that pay for you, each with its own wallet and limits.',
  guide: 'assistants',
  list: agentUsageApi.usage,
  get: agentsApi.get,
  name: ({ name }) => name,
  columns: [
    'status',
    {
      Today: { figure: ({ day }) => used(day) },
      'This month': { figure: ({ month }) => used(month) },
      Wallet: {
        figure: ({ walletId, availableEuros }, request) =>
          renderRecordLink(request, walletId, renderEuros(availableEuros)),
      },
      'Last approval': 'lastSpendAt',
    },
  ],
  filters: [],
  // The link to a wallet shows its balance instead of its name.
  unnamed: ['walletId'],
  labels: { externalId: 'External ID', policyId: 'Limit template' },
  hidden: ['frozenReason', 'frozenByAlertId', 'policyId'],
  events: ['agent.*', 'wallet.*', 'intent.*', 'transaction.*', 'policy.*'],
  create: {
    operation: agentsApi.create,
    members: ['name', 'description', 'policyId'],
    labels: { policyId: 'Limit template' },
    offers: templates,
  },
  note: ({ frozenReason }) =>
    frozenReason !== null && html`<p class="lead">Frozen: ${renderText(frozenReason)}</p>`,
  actions: [
    {
      operation: agentsApi.fund,
      tone: 'main',
      when: isOpen,
      members: ['amountEuros', 'fromWalletId'],
      offers: funds,
    },
    {
      operation: policiesApi.assign,
      when: isOpen,
      members: ['policyId'],
      offers: templates,
      submit: 'Apply a limit template',
      inMenu: true,
    },
    {
      operation: agentTokensApi.create,
      when: isOpen,
      members: ['label', 'maxAmountEuros', 'expiresInDays'],
      labels: {
        label: 'Name, such as where the agent runs',
        maxAmountEuros: 'Budget in euros (empty: no limit)',
        expiresInDays: 'Expires after days (empty: never)',
      },
      values: { expiresInDays: 90 },
      submit: 'Create token',
      inMenu: true,
    },
    {
      operation: agentsApi.update,
      when: isOpen,
      members: ['name', 'description', 'externalId'],
      submit: 'Edit',
      inMenu: true,
    },
    { operation: agentsApi.unfreeze, when: ({ status }) => status === 'frozen', members: [], inRow: true },
    {
      operation: agentsApi.freeze,
      when: ({ status }) => status === 'active',
      members: ['reason'],
      labels: { reason: 'Reason (optional)' },
      tone: 'against',
      inRow: true,
      forRecord: ({ name }) => ({ confirm: `Freeze ${name}? It cannot spend until you unfreeze it.` }),
    },
    {
      operation: agentsApi.delete,
      when: isOpen,
      forRecord: ({ name }) => ({
        confirm: `Delete ${name}? Its money moves to your wallet, its cards are closed, and its tokens are revoked.`,
      }),
      done: 'go:console/agents',
    },
  ],
  async boxes(agent, request) {
    const parts = [moneyOf(agent, request), renderAgentLimits(agent.id, request)]
    return html`${await Promise.all(parts)}`
  },
  tabs: agentTabs,
})

async function templates({ ask }: PageRequest): Promise<Record<'policyId', FieldChoices>> {
  const [own, presets] = await Promise.all([
    ask(policiesApi.list, { query: { kind: 'template', limit: 100 } }),
    ask(policiesApi.presets, { query: { limit: 100 } }),
  ])
  return {
    policyId: [
      ...own.data.map(({ id, name }) => [id, name] as const),
      ...presets.data.map(({ id, name }) => [id, `${name} (preset)`] as const),
    ],
  }
}

async function funds({ ask }: PageRequest): Promise<Record<'fromWalletId', FieldChoices>> {
  const { data } = await ask(walletsApi.list, { query: { limit: 100 } })
  return {
    fromWalletId: data.map(
      ({ id, name, availableEuros }) => [id, `${name} · ${formatPlainEuros(availableEuros)}`] as const,
    ),
  }
}

async function moneyOf({ id }: Agent, request: PageRequest): Promise<Html> {
  const { ask, to } = request
  const [balance, policy] = await Promise.all([
    ask(agentsApi.balance, { params: { id } }),
    fetchEffectivePolicy(id, request),
  ])
  return renderBox(
    'Money',
    renderFacts([
      ['Available', renderEuros(balance.availableEuros)],
      ['Held', renderEuros(balance.heldEuros)],
      ['Limits', policy ? originOf(policy, request) : 'None: every intent needs approval'],
      [
        'Reports',
        html`<a href="${to(`console/costs?agentId=${id}`)}">Spend</a> · <a href="${to(`console/forecast?agentId=${id}`)}">Forecast</a>`,
      ],
    ]),
  )
}

const originOf = ({ id, name, templateId }: EffectivePolicyAnswer, request: PageRequest): Html =>
  html`${renderRecordLink(request, id, renderText(name, 60))}${templateId !== null && html`, from ${renderRecordLink(request, templateId, 'its template')}`}`
