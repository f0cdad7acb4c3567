import type { HandlerOf } from '../../kernel/contract/operation.ts'
import {
  type Check,
  type Compiled,
  compile,
  contradictionsIn,
  decide,
  harmlessUnder,
  type Rule,
  type Rules,
  type Ruling,
  rulesOf,
  ruleTable,
  type Situation,
  sides,
  type Verdict,
  verdictOf,
  type Warning,
} from '../rules/index.ts'
import { findPolicy } from './policy-versioning.ts'
import type { whatIfApi } from './simulation-api.ts'

/** A situation, and what was decided about it. */
export interface Probed {
  readonly situation: Situation
  readonly outcome: Check['outcome']
  readonly message: string
  readonly verdict: Verdict
  readonly reason: string
}

export interface ProbedRule {
  readonly rule: string
  readonly stops: Probed | null
  readonly passes: Probed | null
}

/** Of the tolerance alone it is what is charged in the end that may be too much: more than is held. */
const isOvercharged = ({ chargedEuros }: Situation, { holdEuros }: Ruling): boolean =>
  chargedEuros !== null && chargedEuros > holdEuros

function ask(policy: Compiled, { name, also, silent }: Rule, situation: Situation): Probed {
  const ruling = decide(policy, situation, situation)
  const said = ruling.checks.find(({ rule }) => rule === name || rule === also)
  const told = { situation, message: said?.message ?? silent, reason: ruling.reason }
  return isOvercharged(situation, ruling)
    ? { ...told, outcome: 'fail', verdict: 'denied', reason: told.message }
    : { ...told, outcome: said?.outcome ?? 'skip', verdict: verdictOf(ruling, situation.approval !== null) }
}

const isStopped = ({ outcome }: Probed): boolean => outcome === 'fail' || outcome === 'review'

function probeOf(rule: Rule, policy: Compiled, harmless: Situation): ProbedRule | undefined {
  const { terms } = policy
  const side = sides[rule.name]
  if (!terms || !side || !isSet(rule, policy)) return undefined
  const { stopped, passing } = side(terms, harmless)
  const asked = (changes: typeof stopped): Probed[] =>
    changes.map(change => ask(policy, rule, { ...harmless, ...change }))
  const against = asked(stopped).filter(isStopped)
  const through = asked(passing).filter(one => !isStopped(one))
  return {
    rule: rule.also && terms.mccCategories.length === 0 ? rule.also : rule.name,
    stops: against.find(({ message, reason }) => message === reason) ?? against[0] ?? null,
    passes: through.find(({ verdict }) => verdict === 'allowed') ?? through[0] ?? null,
  }
}

/** No tolerance has nothing to say, and can be meant. */
const isSet = ({ name, judge }: Rule, { terms }: Compiled): boolean =>
  judge(terms) !== undefined || (name === 'amountTolerancePercent' && terms?.amountTolerancePercent === 0)

/** Every rule that is set, from both sides; nothing is told that was not decided so. */
export function probeRules(rules: Rules, now: Date): { rules: ProbedRule[]; warnings: Warning[] } {
  const policy = compile(rules)
  if (!policy.terms) return { rules: [], warnings: [] }
  const harmless = harmlessUnder(policy.terms, now)
  return {
    rules: ruleTable.flatMap(rule => probeOf(rule, policy, harmless) ?? []),
    warnings: contradictionsIn(policy.terms),
  }
}

const shown = (probed: Probed | null) =>
  probed && {
    ...probed,
    situation: {
      ...probed.situation,
      payeeIban: probed.situation.payeeIban ?? null,
      attestedAt: probed.situation.approval?.attestedAt ?? null,
    },
  }

export const probe: HandlerOf<typeof whatIfApi.probe> = async ({ params }, { em, now, refuse }) => {
  const policy = await findPolicy(em, params.id)
  if (!policy) return refuse('policy_not_found')
  const { rules, warnings } = probeRules(rulesOf(policy), now)
  return {
    policyId: policy.id,
    version: policy.version,
    rules: rules.map(({ rule, stops, passes }) => ({ rule, stops: shown(stops), passes: shown(passes) })),
    warnings,
  }
}
