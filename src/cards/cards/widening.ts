import { type Agent, wideningsOfAgent } from '../../control/agents/index.ts'
import {
  type CardControls,
  noPolicyRules,
  type PolicyRules,
  policyRuleInWords,
  policyRuleTitle,
  policyWidenings,
} from '../../control/rules/index.ts'
import { quoted, type StatedWidening } from '../../statements/index.ts'
import { formatDecimal } from '../../values/money.ts'

const limitRules = ['maxTransactionCents', 'dailyLimitCents', 'monthlyLimitCents'] as const

/** With the limits of the day and the month, which are budgets of the card. */
type Terms = CardControls & Pick<PolicyRules, (typeof limitRules)[number]>

/** The limits and controls by which a card may pay more than before. */
export const wideningsOfCard = (
  { id, displayName: name }: { readonly id: string; readonly displayName: string },
  before: Terms,
  after: Terms,
): StatedWidening[] =>
  policyWidenings({ ...noPolicyRules, ...before }, { ...noPolicyRules, ...after }).map(change => ({
    of: 'card',
    id,
    name,
    ...change,
  }))

export const activatingCard = (
  { id, displayName: name }: { readonly id: string; readonly displayName: string },
  from: 'frozen' | 'inactive',
): StatedWidening[] => [{ of: 'card', id, name, field: 'Status', from, to: 'active' }]

interface NewCard {
  readonly usage: string
  readonly displayName?: string | null | undefined
  readonly limits: Pick<Terms, (typeof limitRules)[number]>
}

export function wideningsOfNewCard(
  agent: Pick<Agent, 'id' | 'name'>,
  { usage, displayName, limits }: NewCard,
): StatedWidening[] {
  const inWords = limitRules.flatMap(rule => {
    const limit = limits[rule]
    return limit === null
      ? []
      : [`${policyRuleTitle(rule)} ${policyRuleInWords(rule, Number(formatDecimal(limit)))}`]
  })
  const to = [quoted(displayName ?? agent.name), `for ${usage} use`, ...inWords].join(', ')
  return wideningsOfAgent(agent, [{ field: 'New card', from: 'none', to }])
}
