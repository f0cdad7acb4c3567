import { cardsApi } from '../../../cards/cards/index.ts'
import { agentTokensApi } from '../../../control/agent-tokens/index.ts'
import { budgetApi } from '../../../control/budgets/index.ts'
import { delegationsApi } from '../../../control/delegations/index.ts'
import { mandatesApi } from '../../../control/mandates/index.ts'
import { agentUsageApi, policiesApi } from '../../../control/policies/index.ts'
import { runsApi } from '../../../control/runs/index.ts'
import { RefusedError } from '../../../kernel/contract/problem.ts'
import { type Html, html } from '../../../web/html.ts'
import type { OperationAnswer, PageRequest } from '../page.ts'
import { renderOperationForm } from '../parts/form.ts'
import { renderRecordLink } from '../parts/links.ts'
import { renderBox, renderTable } from '../parts/table.ts'
import { noneText, renderText, renderUsage, sumEuros } from '../parts/text.ts'
import { sentence } from '../scripts/sentence.js'
import { approvalGroup, limitLabels, limitsGroup, stepsGroup } from './policies.ts'

interface BudgetRow {
  readonly of: Html
  readonly span: string
  readonly usedEuros: number | null
  readonly limitEuros: number | null
  readonly leftEuros: number | null
}

export type EffectivePolicyAnswer = OperationAnswer<typeof policiesApi.effective>

/** The limits in words, and the form that changes those that are changed most. */
export async function renderAgentLimits(agentId: string, request: PageRequest): Promise<Html> {
  const policy = await fetchEffectivePolicy(agentId, request)
  if (!policy) return html``
  const groups = [limitsGroup, approvalGroup]
  const edited = new Set(groups.flatMap(({ members }) => members))
  const kept = Object.fromEntries(Object.entries(policy).filter(([name]) => !edited.has(name)))
  return renderBox(
    'Limits',
    [...groups, ...(policy.approval?.length ? [stepsGroup] : [])].map(
      ({ says }) => says && html`<p class="says">${sentence(says, policy)}</p>`,
    ),
    renderOperationForm(request, policiesApi.replace, {
      params: { id: policy.id },
      given: kept,
      groups,
      values: policy,
      labels: limitLabels,
      submit: 'Change limits',
      success: 'Saved.',
      inDialog: true,
    }),
    html`<p>${renderRecordLink(request, policy.id, 'All limits')}</p>`,
  )
}

export async function renderAgentBudgets(agentId: string, request: PageRequest): Promise<Html> {
  const rows = (await Promise.all(levels.map(level => level(agentId, request)))).flat()
  if (rows.length === 0) return html``
  const least = Math.min(...rows.map(({ leftEuros }) => leftEuros ?? Number.POSITIVE_INFINITY))
  return renderBox(
    'Remaining budget',
    renderTable(request, 'Limits of the agent', rows, {
      Limit: ({ of, leftEuros }) =>
        html`${of}${leftEuros === least && html` <span class="status waiting">smallest</span>`}`,
      Period: 'span',
      Used: {
        figure: ({ usedEuros, limitEuros }) =>
          usedEuros === null ? noneText : renderUsage(usedEuros, limitEuros),
      },
      Left: 'leftEuros',
    }),
  )
}

type Level = (agentId: string, request: PageRequest) => Promise<BudgetRow[]>

interface Use {
  readonly heldEuros: number
  readonly spentEuros: number
  readonly remainingEuros: number | null
}

const rowOf = (of: Html, span: string, use: Use, limitEuros: number | null): BudgetRow => ({
  of,
  span,
  limitEuros,
  usedEuros: sumEuros([use.heldEuros, use.spentEuros]),
  leftEuros: use.remainingEuros,
})

const account: Level = async (_, { ask, to }) => {
  const { day, month, dailyLimitEuros, monthlyLimitEuros } = await ask(budgetApi.budget)
  const of = html`<a href="${to('console/settings')}">All agents</a>`
  return [
    ...(day && dailyLimitEuros !== null ? [rowOf(of, 'today', day, dailyLimitEuros)] : []),
    ...(month && monthlyLimitEuros !== null ? [rowOf(of, 'this month', month, monthlyLimitEuros)] : []),
  ]
}

const policy: Level = async (agentId, request) => {
  const [{ data }, effective] = await Promise.all([
    request.ask(agentUsageApi.usage, { query: { agentId } }),
    fetchEffectivePolicy(agentId, request),
  ])
  const [agent] = data
  if (!agent || !effective) return []
  const of = renderRecordLink(request, effective.id, html`Limits ${renderText(effective.name, 40)}`)
  const periods = [
    ['today', agent.day],
    ['this month', agent.month],
  ] as const
  const limited = periods.filter(([, { limitEuros }]) => limitEuros !== null)
  const once = effective.maxTransactionEuros ?? null
  return [
    ...(once === null
      ? []
      : [{ of, span: 'per payment', usedEuros: null, limitEuros: once, leftEuros: once }]),
    ...limited.map(([span, period]) => rowOf(of, span, period, period.limitEuros)),
  ]
}

const asked = new WeakMap<PageRequest, Promise<EffectivePolicyAnswer | undefined>>()

/** Reads the policy once for each page. An agent without a policy is not an error. */
export function fetchEffectivePolicy(
  agentId: string,
  request: PageRequest,
): Promise<EffectivePolicyAnswer | undefined> {
  const policy =
    asked.get(request) ?? request.ask(policiesApi.effective, { params: { agentId } }).catch(whereNone)
  asked.set(request, policy)
  return policy
}

function whereNone(error: unknown): undefined {
  if (!(error instanceof RefusedError) || error.refusal.status !== 404) throw error
}

const runs: Level = async (agentId, request) => {
  const { data } = await request.ask(runsApi.list, { query: { agentId, status: 'running', limit: 10 } })
  return data.flatMap(run =>
    run.budgetEuros === null
      ? []
      : rowOf(
          renderRecordLink(request, run.id, html`Run ${renderText(run.name, 40)}`),
          'run',
          { ...run, remainingEuros: sumEuros([run.budgetEuros, -run.heldEuros, -run.spentEuros]) },
          run.budgetEuros,
        ),
  )
}

const delegations: Level = async (agentId, request) => {
  const { data } = await request.ask(delegationsApi.list, {
    query: { agentId, status: 'redeemed', limit: 10 },
  })
  return data.map(one =>
    rowOf(
      renderRecordLink(request, one.id, html`Delegation ${renderText(one.label, 40)}`),
      'total',
      one,
      one.maxAmountEuros,
    ),
  )
}

const tokens: Level = async (id, { ask }) => {
  const { data } = await ask(agentTokensApi.list, { params: { id }, query: { limit: 20 } })
  return data.flatMap(({ label, maxAmountEuros, heldEuros, spentEuros, remainingEuros, revokedAt }) =>
    maxAmountEuros === null || revokedAt !== null
      ? []
      : rowOf(
          html`Token ${renderText(label, 40)}`,
          'total',
          { heldEuros: heldEuros ?? 0, spentEuros: spentEuros ?? 0, remainingEuros },
          maxAmountEuros,
        ),
  )
}

const mandates: Level = async (agentId, request) => {
  const { data } = await request.ask(mandatesApi.list, {
    query: { agentId, status: 'active', limit: 10 },
  })
  return data.flatMap(mandate => {
    const of = renderRecordLink(request, mandate.id, html`Mandate ${renderText(mandate.name, 40)}`)
    const spans = [
      ['today', mandate.dayLeftEuros],
      ['this month', mandate.monthLeftEuros],
      ['total', mandate.totalLeftEuros],
    ] as const
    return spans.flatMap(([span, leftEuros]) =>
      leftEuros === null ? [] : { of, span, leftEuros, usedEuros: null, limitEuros: null },
    )
  })
}

const cards: Level = async (agentId, request) => {
  const { data } = await request.ask(cardsApi.list, { query: { agentId, status: 'active', limit: 10 } })
  return data.flatMap(card => {
    const of = renderRecordLink(
      request,
      card.id,
      html`Card ${renderText(card.displayName, 30)} ${card.last4 ?? ''}`,
    )
    const spans = [
      ['per payment', card.limits.maxTransactionEuros],
      ['per day', card.limits.dailyLimitEuros],
      ['per month', card.limits.monthlyLimitEuros],
    ] as const
    return spans.flatMap(([span, limitEuros = null]) =>
      limitEuros === null ? [] : { of, span, usedEuros: null, limitEuros, leftEuros: null },
    )
  })
}

const levels: readonly Level[] = [account, policy, runs, delegations, tokens, mandates, cards]
